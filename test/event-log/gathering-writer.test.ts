import { afterEach, describe, expect, jest, test } from '@jest/globals'
import fc from 'fast-check'
import { gatheringWriter, waitingRoom } from '../../event-log/gathering-writer.ts'
import { InFlight } from '../../runtime/http/in-flight.ts'
import { eventually } from '../eventually.ts'
import { fakeTimers } from '../fake-timers.ts'
import { heldWriter, numbered, recordingWriter, turns } from './gathering-writers.ts'

/** The key of an item such as `a7`. */
const keyOf = (item: string) => item[0]

describe('gathering writer', () => {
  afterEach(() => void jest.useRealTimers())

  test('calls of one event-loop turn share a batch, in the order of the calls', async () => {
    const { writer, batches } = recordingWriter()
    await Promise.all([writer.write(['a', 'b'], 2), writer.write(['c'], 1), writer.write(['d'], 1)])
    expect(batches).toEqual([['a', 'b', 'c', 'd']])
  })

  test('a single call is written immediately', async () => {
    const { writer, batches } = recordingWriter()
    await writer.write(['a'], 1)
    await writer.write(['b'], 1)
    expect(batches).toEqual([['a'], ['b']])
  })

  test('a call without items resolves immediately', async () => {
    const { writer, batches } = recordingWriter()
    await writer.write([], 0)
    expect(batches).toEqual([])
  })

  test('while a batch is outstanding no other starts; calls arriving meanwhile form the next one', async () => {
    const { writer, batches, settleNext } = heldWriter()
    const first = writer.write(['a'], 1)
    await eventually(() => batches.length === 1)
    const later = [writer.write(['b'], 1), writer.write(['c'], 1)]
    await turns(5)
    expect(batches).toEqual([['a']])
    settleNext()
    await first
    await eventually(() => batches.length === 2)
    expect(batches[1]).toEqual(['b', 'c'])
    settleNext()
    await Promise.all(later)
  })

  test('a batch holds up to 500 items', async () => {
    const { writer, batches } = recordingWriter()
    const fives = numbered(240).map((call) => numbered(5).map((item) => `${call}/${item}`))
    await Promise.all(fives.map((items) => writer.write(items, 5)))
    expect(batches.map((batch) => batch.length)).toEqual([500, 500, 200])
    expect(batches.flat()).toEqual(fives.flat())
  })

  test('112 calls are written within a turn, unless a batch is outstanding', async () => {
    const { writer, batches, settleNext } = heldWriter()
    const answers = numbered(111).map((item) => writer.write([item], 1))
    expect(batches).toEqual([])
    answers.push(writer.write(['the 112th'], 1))
    expect(batches).toEqual([[...numbered(111), 'the 112th']])
    answers.push(...numbered(300).map((item) => writer.write([item], 1)))
    await turns(3)
    expect(batches.length).toBe(1)
    settleNext()
    await eventually(() => batches.length === 2)
    expect(batches[1]).toEqual(numbered(300))
    settleNext()
    await Promise.all(answers)
  })

  test('the concurrent requests allowed to one account do not wait for the end of the turn', async () => {
    const { accounts } = new InFlight()
    let share = 0
    for (; !accounts.areTaken('acc-1'); share += 1) accounts.take('acc-1')
    const { writer, batches, settleNext } = heldWriter()
    const answers = numbered(share).map((item) => writer.write([item], 1))
    expect(batches).toHaveLength(1)
    settleNext()
    await eventually(() => batches.length === 2)
    settleNext()
    await Promise.all(answers)
  })

  test('after a batch of four calls the next waits for the pause, and takes all calls that arrived meanwhile', async () => {
    fakeTimers('performance', 'setTimeout')
    const { writer, batches } = recordingWriter({ restMs: 300 })
    await Promise.all(numbered(4).map((item) => writer.write([item], 1)))
    const first = writer.write(['a'], 1)
    await turns(5)
    const second = writer.write(['b'], 1)
    jest.advanceTimersByTime(298)
    await turns(5)
    expect(batches).toEqual([numbered(4)])
    jest.advanceTimersByTime(2)
    await Promise.all([first, second])
    expect(batches).toEqual([numbered(4), ['a', 'b']])
    // With two calls none waits.
    await writer.write(['after'], 1)
    expect(batches).toHaveLength(3)
  })

  test('a batch that took longer than the pause is followed immediately', async () => {
    fakeTimers('performance', 'setTimeout')
    const { writer, batches, settleNext } = heldWriter({ restMs: 30 })
    const answers = numbered(4).map((item) => writer.write([item], 1))
    await eventually(() => batches.length === 1)
    jest.advanceTimersByTime(40)
    answers.push(writer.write(['next'], 1))
    settleNext()
    await turns(3)
    expect(batches).toEqual([numbered(4), ['next']])
    settleNext()
    await Promise.all(answers)
  })

  test('112 calls do not wait for the pause', async () => {
    const { writer, batches } = recordingWriter({ restMs: 60_000 })
    await Promise.all(numbered(4).map((item) => writer.write([item], 1)))
    const crowd = numbered(112)
    await Promise.all(crowd.map((item) => writer.write([item], 1)))
    expect(batches).toEqual([numbered(4), crowd])
  })

  test('a batch holds up to 512 KiB', async () => {
    const { writer, batches } = recordingWriter()
    await Promise.all(numbered(5).map((item) => writer.write([item], 200 * 1024)))
    expect(batches.map((batch) => batch.length)).toEqual([2, 2, 1])
  })

  test('a call larger than a batch is written whole, in its own batch', async () => {
    const { writer, batches } = recordingWriter()
    const large = numbered(700)
    await Promise.all([writer.write(['a'], 1), writer.write(large, 700), writer.write(['b'], 1)])
    expect(batches).toEqual([['a'], large, ['b']])
  })

  test('small calls overtake large ones', async () => {
    const { writer, batches, settleNext } = heldWriter({ fewItems: 2, maxBatchItems: 5, keyOf })
    const answers = [writer.write(['outstanding'], 1)]
    await eventually(() => batches.length === 1)
    for (const items of ['m1 m2 m3', 'n1 n2 n3', 'a', 'b c', 'd']) {
      answers.push(writer.write(items.split(' '), 1))
    }
    while (batches.flat().length < 11) {
      settleNext()
      await turns(2)
    }
    settleNext()
    await Promise.all(answers)
    const written = batches.slice(1).map((batch) => batch.join(' '))
    expect(written).toEqual(['a b c d', 'm1 m2 m3', 'n1 n2 n3'])
  })

  test('an endless flow of small calls does not starve a large one: it joins every other batch', async () => {
    const { writer, batches, settleNext } = heldWriter({ fewItems: 1, maxBatchItems: 2, keyOf })
    const answers = [writer.write(['outstanding'], 1)]
    await eventually(() => batches.length === 1)
    answers.push(...numbered(7).map((item) => writer.write([item], 1)))
    for (const items of ['m1 m2 m3', 'n1 n2']) answers.push(writer.write(items.split(' '), 1))
    while (batches.flat().length < 13) {
      settleNext()
      await turns(2)
    }
    settleNext()
    await Promise.all(answers)
    const written = batches.slice(1).map((batch) => batch.join(' '))
    expect(written).toEqual(['0 1', '2 3 m1 m2 m3', '4 5', '6 n1 n2'])
  })

  test('small calls wait behind a large one with the same key', async () => {
    const { writer, batches, settleNext } = heldWriter({ fewItems: 1, maxBatchItems: 4, keyOf })
    const answers = [writer.write(['outstanding'], 1)]
    await eventually(() => batches.length === 1)
    for (const items of ['m1 m2', 'x1', 'm3', 'n1 n2 n3', 'x2', 'n4', 'm4']) {
      answers.push(writer.write(items.split(' '), 1))
    }
    while (batches.flat().length < 11) {
      settleNext()
      await turns(2)
    }
    settleNext()
    await Promise.all(answers)
    const written = batches.slice(1).map((batch) => batch.join(' '))
    expect(written).toEqual(['x1 x2', 'm1 m2 m3', 'n1 n2 n3 n4', 'm4'])
  })

  test('small and large calls keep their order if keys are unknown', async () => {
    const { writer, batches } = recordingWriter({ fewItems: 1 })
    await Promise.all([writer.write(['m1', 'm2'], 2), writer.write(['a'], 1)])
    expect(batches).toEqual([['m1', 'm2', 'a']])
  })

  test('calls that would overfill the queue are rejected immediately as overloaded, retriable', async () => {
    const { writer, batches, settleNext } = heldWriter()
    const answers = [writer.write(['outstanding'], 1)]
    await eventually(() => batches.length === 1)
    for (let call = 0; call < 100; call += 1) answers.push(writer.write(numbered(100), 100))
    await expect(writer.write(['one too many'], 1)).rejects.toMatchObject({
      name: 'DependencyError',
      retriable: true,
      message: expect.stringContaining('overloaded'),
    })

    settleNext()
    await eventually(() => batches.length === 2)
    const again = writer.write(['room again'], 1)
    for (;;) {
      settleNext()
      await turns(2)
      if (batches.flat().length === 10_002) break
    }
    settleNext()
    await Promise.all([...answers, again])
    expect(batches.flat()).not.toContain('one too many')
  })

  test('the queue is bounded in bytes too', async () => {
    const { writer, batches, settleNext } = heldWriter()
    const answers = [writer.write(['outstanding'], 1)]
    await eventually(() => batches.length === 1)
    const halfOfIt = 16 * 1024 * 1024
    answers.push(writer.write(['a'], halfOfIt), writer.write(['b'], halfOfIt))
    await expect(writer.write(['c'], 1)).rejects.toThrow('overloaded')
    while (batches.flat().length < 3) {
      settleNext()
      await turns(2)
    }
    settleNext()
    await Promise.all(answers)
  })

  test('an oversized call is accepted while nothing else waits', async () => {
    const { writer, batches } = recordingWriter({
      room: waitingRoom({ maxItems: 10, maxBytes: 10 }),
    })
    await writer.write(numbered(11), 11)
    expect(batches).toEqual([numbered(11)])
  })

  test('a failed batch rejects its own calls and no others', async () => {
    const { writer, batches, settleNext } = heldWriter()
    const first = [writer.write(['a'], 1), writer.write(['b'], 1)]
    await eventually(() => batches.length === 1)
    const second = writer.write(['c'], 1)
    const failure = new Error('disk full')
    settleNext(failure)
    expect(await Promise.allSettled(first)).toEqual([
      { status: 'rejected', reason: failure },
      { status: 'rejected', reason: failure },
    ])
    await eventually(() => batches.length === 2)
    settleNext()
    await second
  })

  test('a batch whose write throws synchronously fails like any other', async () => {
    const writer = gatheringWriter<string>({
      writeBatch() {
        throw new Error('thrown')
      },
    })
    await expect(writer.write(['a'], 1)).rejects.toThrow('thrown')
    await expect(writer.write(['b'], 1)).rejects.toThrow('thrown')
  })

  test('closing rejects new calls and waits for the earlier ones', async () => {
    const { writer, batches, settleNext } = heldWriter()
    const answered: string[] = []
    const calls = [
      writer.write(['a'], 1).then(() => answered.push('a')),
      writer.write(numbered(500), 500).then(() => answered.push('many')),
    ]
    await eventually(() => batches.length === 1)
    const closed = [writer.close(), writer.close()].map((close) =>
      close.then(() => answered.push('closed')),
    )
    await expect(writer.write(['late'], 1)).rejects.toMatchObject({ retriable: true })
    settleNext()
    await eventually(() => batches.length === 2)
    settleNext()
    await Promise.all([...calls, ...closed])
    expect(answered).toEqual(['a', 'many', 'closed', 'closed'])
  })

  test('closing an idle writer resolves immediately, and later calls are rejected', async () => {
    const { writer, batches } = recordingWriter()
    await writer.write(['a'], 1)
    let isClosed = false
    const closing = writer.close().then(() => (isClosed = true))
    await Promise.resolve()
    expect(isClosed).toBe(true)
    await closing
    await expect(writer.write(['b'], 1)).rejects.toThrow('closing')
    expect(batches).toEqual([['a']])
  })

  test('each call is written once, whole, in order, and gets the result of its own batch', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            items: fc.array(fc.constantFrom(...'abcd'), { minLength: 1, maxLength: 12 }),
            bytesEach: fc.integer({ min: 1, max: 9 }),
            turnsBefore: fc.integer({ min: 0, max: 3 }),
          }),
          { maxLength: 40 },
        ),
        fc.array(fc.record({ fails: fc.boolean(), turns: fc.integer({ min: 0, max: 4 }) }), {
          maxLength: 40,
        }),
        fc.integer({ min: 1, max: 12 }),
        fc.boolean(),
        async (calls, outcomes, fewItems, keyed) => {
          const batches: { items: readonly string[]; fails: boolean }[] = []
          let outstanding = 0
          const writer = gatheringWriter<string>({
            maxBatchItems: 10,
            maxBatchBytes: 40,
            promptCalls: 4,
            fewItems,
            keyOf: keyed ? keyOf : undefined,
            async writeBatch(items) {
              outstanding += 1
              expect(outstanding).toBe(1)
              const outcome = outcomes[batches.length] ?? { fails: false, turns: 0 }
              batches.push({ items, fails: outcome.fails })
              await turns(outcome.turns)
              outstanding -= 1
              if (outcome.fails) throw new Error('failed')
            },
          })
          const written: { items: string[]; bytes: number; done: Promise<boolean> }[] = []
          for (const [index, { items: keys, bytesEach, turnsBefore }] of calls.entries()) {
            await turns(turnsBefore)
            const items = keys.map((key, item) => `${key}${index}/${item}`)
            const bytes = items.length * bytesEach
            const done = writer.write(items, bytes).then(
              () => true,
              () => false,
            )
            written.push({ items, bytes, done })
          }
          await writer.close()

          const inLog = batches.flatMap(({ items }) => items)
          const sent = written.flatMap((call) => call.items)
          if (!keyed) expect(inLog).toEqual(sent)
          expect([...inLog].sort()).toEqual([...sent].sort())
          for (const key of 'abcd') {
            const ofKey = (item: string) => keyOf(item) === key
            expect(inLog.filter(ofKey)).toEqual(sent.filter(ofKey))
          }
          for (const { items, done } of written) {
            const batch = batches.find((one) => one.items.includes(items[0]!))!
            const at = batch.items.indexOf(items[0]!)
            expect(batch.items.slice(at, at + items.length)).toEqual(items)
            expect(await done).toBe(!batch.fails)
          }
          for (const batch of batches) {
            const inIt = written.filter(({ items }) => batch.items.includes(items[0]!))
            const fits = (calls: typeof inIt) =>
              calls.length <= 1 ||
              (calls.reduce((sum, call) => sum + call.items.length, 0) <= 10 &&
                calls.reduce((sum, call) => sum + call.bytes, 0) <= 40)
            // The oldest of many items may join even if it does not fit.
            const without = (one: unknown) => inIt.filter((call) => call !== one)
            expect(keyed ? inIt.some((one) => fits(without(one))) : fits(inIt)).toBe(true)
          }
        },
      ),
      { numRuns: 200 },
    )
  })
})
