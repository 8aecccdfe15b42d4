import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  gatheringWriter,
  waitingRoom,
  type GatheringWriterOptions,
} from '../../event-log/gathering-writer.ts'
import { eventually } from '../eventually.ts'

describe('gathering writer', () => {
  test('calls of one event-loop turn share a batch, in the order of the calls', async () => {
    const { writer, batches } = recordingWriter()
    await Promise.all([writer.write(['a', 'b'], 2), writer.write(['c'], 1), writer.write(['d'], 1)])
    expect(batches).toEqual([['a', 'b', 'c', 'd']])
  })

  test('a lone call is written at once, without waiting for company', async () => {
    const { writer, batches } = recordingWriter()
    await writer.write(['a'], 1)
    await writer.write(['b'], 1)
    expect(batches).toEqual([['a'], ['b']])
  })

  test('a call without items is done at once', async () => {
    const { writer, batches } = recordingWriter()
    await writer.write([], 0)
    expect(batches).toEqual([])
  })

  test('while a batch is outstanding no other starts; what came meanwhile is the next', async () => {
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
    await Promise.all(numbered(1200).map((item) => writer.write([item], 1)))
    expect(batches.map((batch) => batch.length)).toEqual([500, 500, 200])
    expect(batches.flat()).toEqual(numbered(1200))
  })

  test('a batch holds up to 512 KiB', async () => {
    const { writer, batches } = recordingWriter()
    await Promise.all(numbered(5).map((item) => writer.write([item], 200 * 1024)))
    expect(batches.map((batch) => batch.length)).toEqual([2, 2, 1])
  })

  test('a call larger than a batch goes whole, in one of its own', async () => {
    const { writer, batches } = recordingWriter()
    const large = numbered(700)
    await Promise.all([writer.write(['a'], 1), writer.write(large, 700), writer.write(['b'], 1)])
    expect(batches).toEqual([['a'], large, ['b']])
  })

  test('calls that would overfill the queue are rejected at once as overloaded, retriable', async () => {
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

  test('a call beyond the bounds passes while nothing else waits', async () => {
    const { writer, batches } = recordingWriter({
      room: waitingRoom({ maxItems: 10, maxBytes: 10 }),
    })
    await writer.write(numbered(11), 11)
    expect(batches).toEqual([numbered(11)])
  })

  test('a batch that fails rejects its own calls and no others', async () => {
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

  test('a batch whose writing throws at once fails like any other', async () => {
    const writer = gatheringWriter<string>({
      writeBatch() {
        throw new Error('thrown')
      },
    })
    await expect(writer.write(['a'], 1)).rejects.toThrow('thrown')
    await expect(writer.write(['b'], 1)).rejects.toThrow('thrown')
  })

  test('at its deadline a waiting call is rejected and dropped, and the slot stays taken', async () => {
    const { writer, batches, settleNext } = heldWriter({ deadlineMs: 1_000 })
    const outstanding = writer.write(['outstanding'], 1)
    await eventually(() => batches.length === 1)
    const dropped = writer.write(['dropped'], 1)
    const late = { name: 'DependencyError', retriable: true }
    await expect(outstanding).rejects.toMatchObject(late)
    await expect(dropped).rejects.toMatchObject(late)

    const next = writer.write(['next'], 1)
    await turns(5)
    expect(batches).toEqual([['outstanding']])
    settleNext()
    await eventually(() => batches.length === 2)
    settleNext()
    await next
    expect(batches).toEqual([['outstanding'], ['next']])
  })

  test('dropped calls make room in the queue', async () => {
    const { writer, batches } = heldWriter({
      deadlineMs: 1_000,
      room: waitingRoom({ maxItems: 2 }),
    })
    const calls = [writer.write(['outstanding'], 1)]
    await eventually(() => batches.length === 1)
    calls.push(writer.write(['a', 'b'], 2))
    await expect(writer.write(['c'], 1)).rejects.toThrow('overloaded')
    await Promise.allSettled(calls)
    await expect(writer.write(['d', 'e'], 2)).rejects.toThrow('within 1000 ms')
  })

  test('dropped calls are forgotten while the outstanding batch hangs', async () => {
    const { writer, batches } = heldWriter({ deadlineMs: 50 })
    // Errors hold on to the timers that made them.
    const write = (items: string[]) => writer.write(items, 1).catch(() => 'dropped')
    const calls = [write(['outstanding'])]
    await eventually(() => batches.length === 1)
    const dropped = numbered(100).map((item) => {
      const items = [item]
      calls.push(write(items))
      return new WeakRef(items)
    })
    await Promise.all(calls)
    await turns(5)
    setFlagsFromString('--expose-gc')
    const collectGarbage = runInNewContext('gc') as () => void
    collectGarbage()
    expect(dropped.filter((items) => items.deref() !== undefined)).toEqual([])
  })

  test('closing refuses new calls and waits until the earlier ones are answered', async () => {
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

  test('closing does not wait for a write that hangs beyond the deadline of its calls', async () => {
    const { writer, batches } = heldWriter({ deadlineMs: 1_000 })
    const hanging = writer.write(['a'], 1)
    await eventually(() => batches.length === 1)
    const answers = await Promise.allSettled([hanging, writer.close()])
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  })

  test('closing an idle writer is done at once', async () => {
    await recordingWriter().writer.close()
  })

  test('whatever comes, each call is written once, whole, in order, and told of its own batch', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            items: fc.integer({ min: 1, max: 12 }),
            bytesEach: fc.integer({ min: 1, max: 9 }),
            turnsBefore: fc.integer({ min: 0, max: 3 }),
          }),
          { maxLength: 40 },
        ),
        fc.array(fc.record({ fails: fc.boolean(), turns: fc.integer({ min: 0, max: 4 }) }), {
          maxLength: 40,
        }),
        async (calls, outcomes) => {
          const batches: { items: readonly string[]; fails: boolean }[] = []
          let outstanding = 0
          const writer = gatheringWriter<string>({
            maxBatchItems: 10,
            maxBatchBytes: 40,
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
          for (const [index, { items: count, bytesEach, turnsBefore }] of calls.entries()) {
            await turns(turnsBefore)
            const items = numbered(count).map((item) => `${index}/${item}`)
            const bytes = count * bytesEach
            const done = writer.write(items, bytes).then(
              () => true,
              () => false,
            )
            written.push({ items, bytes, done })
          }
          await writer.close()

          expect(batches.flatMap(({ items }) => items)).toEqual(written.flatMap((c) => c.items))
          for (const { items, done } of written) {
            const batch = batches.find((one) => one.items.includes(items[0]!))!
            expect(batch.items).toEqual(expect.arrayContaining(items))
            expect(await done).toBe(!batch.fails)
          }
          for (const batch of batches) {
            const inIt = written.filter(({ items }) => batch.items.includes(items[0]!))
            const bytes = inIt.reduce((sum, call) => sum + call.bytes, 0)
            expect(inIt.length === 1 || (batch.items.length <= 10 && bytes <= 40)).toBe(true)
          }
        },
      ),
      { numRuns: 200 },
    )
  })
})

type Limits = Omit<GatheringWriterOptions<string>, 'writeBatch'>

function recordingWriter(limits: Limits = {}) {
  const batches: (readonly string[])[] = []
  const writer = gatheringWriter<string>({
    ...limits,
    async writeBatch(items) {
      batches.push(items)
    },
  })
  return { writer, batches }
}

/** A writer whose batches settle only when the test says so. */
function heldWriter(limits: Limits = {}) {
  const batches: (readonly string[])[] = []
  const held: ((error?: Error) => void)[] = []
  const writer = gatheringWriter<string>({
    ...limits,
    writeBatch(items) {
      batches.push(items)
      return new Promise((resolve, reject) => {
        held.push((error) => (error === undefined ? resolve() : reject(error)))
      })
    },
  })
  return { writer, batches, settleNext: (error?: Error) => held.shift()?.(error) }
}

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, index) => String(index))
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
