import { expect } from '@jest/globals'
import { deviceKey, encodePositionReported } from '../../schemas/events/position-reported.ts'
import { eventually } from '../eventually.ts'
import {
  aGroup,
  sample,
  samples,
  recordId,
  originText,
  isRising,
  hex,
  SOON,
  startTail,
  type EventLogSuite,
} from './event-log-suite.ts'

/** Groups: everything is delivered to each at least once, in order. */
export function subscribingContract({ promise }: EventLogSuite): void {
  promise(
    'batches hold 1 to 500 consecutive entries of one partition',
    async ({ consume, log }) => {
      const events = samples(1200)
      await log.append(events)
      const reader = consume(log)
      await eventually(() => reader.events().length >= 1200, SOON)
      expect(reader.events()).toEqual(events)
      expect(new Set(reader.entries().map(originText)).size).toBe(1200)
      for (const { partition, lastOffset, entries } of reader.batches) {
        expect(entries.length).toBeGreaterThan(0)
        expect(entries.length).toBeLessThanOrEqual(500)
        expect(entries.every(({ origin }) => origin.partition === partition)).toBe(true)
        expect(isRising(entries.map(({ origin }) => origin.offset))).toBe(true)
        expect(entries.at(-1)!.origin.offset).toBeLessThanOrEqual(lastOffset)
      }
    },
  )

  promise('events appended while a subscription runs reach it', async ({ consume, log }) => {
    const reader = consume(log)
    for (const event of samples(3)) {
      await log.append([event])
      await eventually(() => reader.events().at(-1)?.recordId === event.recordId, SOON)
    }
    expect(reader.events()).toHaveLength(3)
  })

  promise('a rejected batch is redelivered before anything after it', async ({ consume, log }) => {
    const events = samples(3)
    await log.append(events.slice(0, 2))
    let failures = 0
    const reader = consume(log, {
      async onBatch() {
        failures += 1
        if (failures === 1) await log.append(events.slice(2))
        if (failures <= 2) throw new Error('the store is away')
      },
    })
    await eventually(() => reader.events().length >= 3, SOON)
    expect(reader.events()).toEqual(events)
    const starts = reader.attempts.map(({ entries }) => recordId(entries[0]!))
    expect(starts.slice(0, 3)).toEqual(Array(3).fill(events[0]!.recordId))
  })

  promise(
    'a group continues where it stopped, even after the log is reopened',
    async ({ consume, log, opened, progressOf }) => {
      const group = aGroup()
      const events = samples(5)
      await log.append(events.slice(0, 3))
      const before = consume(log, { group })
      await eventually(() => before.events().length >= 3, SOON)
      await before.stop()
      await log.append(events.slice(3))
      await log.close()

      const after = consume(await opened.reopen(), { group, ...progressOf(before) })
      await eventually(() => after.events().length >= 2, SOON)
      expect(after.events()).toEqual(events.slice(3))
    },
  )

  promise(
    'a batch still unresolved when the group ended is delivered to it again',
    async ({ consume, log, opened, progressOf }) => {
      const group = aGroup()
      const events = samples(2)
      await log.append(events)
      const failing = consume(log, {
        group,
        onBatch: () => Promise.reject(new Error('the store is away')),
      })
      await eventually(() => failing.attempts.length > 0, SOON)
      await failing.stop()

      const after = consume(await opened.reopen(), { group, ...progressOf(failing) })
      await eventually(() => after.events().length >= 2, SOON)
      expect(after.events()).toEqual(events)
    },
  )

  promise('resumeAfter overrides the group’s committed offset', async ({ consume, log }) => {
    const group = aGroup()
    const events = samples(4)
    await log.append(events)
    const first = consume(log, { group })
    await eventually(() => first.events().length >= 4, SOON)
    await first.stop()

    const { partition, offset } = first.entries()[1]!.origin
    const resumed = consume(log, { group, resumeAfter: { [partition]: offset } })
    await eventually(() => resumed.events().length >= 2, SOON)
    expect(resumed.events()).toEqual(events.slice(2))
    await resumed.stop()

    const fromTheStart = consume(log, { group, resumeAfter: {} })
    await eventually(() => fromTheStart.events().length >= 4, SOON)
    expect(fromTheStart.events()).toEqual(events)
  })

  promise('groups do not wait for one another', async ({ consume, log }) => {
    const events = samples(3)
    await log.append(events)
    const stuck = consume(log, { onBatch: () => Promise.reject(new Error('stuck')) })
    const other = consume(log)
    await eventually(() => other.events().length >= 3 && stuck.attempts.length > 0, SOON)
    expect(other.events()).toEqual(events)
    expect(stuck.events()).toEqual([])
  })

  promise(
    'an unreadable entry is delivered in order, with its bytes unchanged',
    async ({ consume, log, opened }) => {
      const good = samples(2)
      const key = deviceKey(good[0]!)
      const truncated = Buffer.from(encodePositionReported(good[0]!)).subarray(0, 40)
      const wrongShape = Buffer.from('{"recordId":"01KDVN9C00","latitude":"north"}')
      const notUtf8 = Buffer.from(encodePositionReported({ ...good[0]!, deviceId: 'D' }))
      notUtf8[notUtf8.indexOf('"D"') + 1] = 0xff
      const values = [
        Buffer.from('no JSON at all'),
        notUtf8,
        truncated,
        wrongShape,
        Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0x7d]),
        ...POISONED.map((changes) => {
          const text = encodePositionReported(good[0]!)
          return Buffer.from(JSON.stringify({ ...JSON.parse(text), ...changes }))
        }),
        Buffer.alloc(0),
        null,
      ]
      await log.append(good.slice(0, 1))
      for (const value of values) await opened.putRaw(value, key)
      await log.append(good.slice(1))

      const reader = consume(log)
      await eventually(() => reader.entries().length >= values.length + 2, SOON)
      const entries = reader.entries()
      expect(entries.map(({ kind }) => kind)).toEqual([
        'position',
        ...values.map(() => 'unreadable'),
        'position',
      ])
      expect(reader.events()).toEqual(good)
      const unreadable = entries.flatMap((entry) => (entry.kind === 'unreadable' ? [entry] : []))
      expect(unreadable.map(({ value }) => hex(value))).toEqual(values.map(hex))
      for (const entry of unreadable) {
        expect(hex(entry.key)).toBe(hex(Buffer.from(key)))
        expect(entry.reason).toMatch(/\w/)
      }
      expect(isRising(entries.map(({ origin }) => origin.offset))).toBe(true)
    },
  )

  promise('an event of an unknown type keeps its position, for tails too', async (given) => {
    const { log, opened, consume } = given
    const good = samples(2)
    const key = deviceKey(good[0]!)
    const marks = { type: 'DeviceMoved.v7', id: '01KDVN9C0000000000000000ZZ' }
    await log.append(good.slice(0, 1))
    await opened.putRaw(Buffer.from('{"whatever":1}'), key, marks)
    await opened.putRaw(null, key, marks)
    await opened.putRaw(Buffer.from(encodePositionReported(good[0]!)), key, marks)
    await log.append(good.slice(1))

    const reader = consume(log)
    const tail = startTail(log, {})
    const tailed = () => tail.items.flatMap((item) => (item.kind === 'batch' ? item.entries : []))
    await eventually(() => reader.entries().length >= 5 && tailed().length >= 5, SOON)
    expect(reader.entries().map(({ kind }) => kind)).toEqual([
      'position',
      ...Array<string>(3).fill('unknown'),
      'position',
    ])
    expect(reader.entries()[1]).toMatchObject({ type: 'DeviceMoved.v7' })
    expect(reader.events()).toEqual(good)
    expect(tailed()).toEqual(reader.entries())
    await tail.stop()
  })

  promise(
    'an aborted subscription finishes its current batch before it ends',
    async ({ consume, log, progressOf }) => {
      const group = aGroup()
      const events = samples(2)
      await log.append(events)
      let release = () => {}
      const released = new Promise<void>((resolve) => (release = resolve))
      const reader = consume(log, { group, onBatch: () => released })
      await eventually(() => reader.attempts.length > 0, SOON)
      let ended = false
      const stopping = reader.stop().then(() => (ended = true))
      for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate)
      expect(ended).toBe(false)
      release()
      await stopping

      const inHand = reader.events().length
      const next = consume(log, { group, ...progressOf(reader) })
      await log.append([sample()])
      await eventually(() => next.events().length > 0, SOON)
      expect(next.events()[0]?.recordId).not.toBe(events[0]!.recordId)
      expect(inHand).toBeGreaterThan(0)
    },
  )

  promise('an already aborted subscription delivers nothing', async ({ consume, log }) => {
    await log.append(samples(1))
    const reader = consume(log, { signal: AbortSignal.abort() })
    await reader.ended
    expect(reader.attempts).toEqual([])
  })
}

/** Values that JSON accepts, but that no store could keep unchanged, or find again. */
const POISONED: readonly Record<string, unknown>[] = [
  { deviceId: 'lone\ud800' },
  { keyId: '\udfff' },
  { deviceId: 'cut\u0000off' },
  { deviceId: 'x'.repeat(129) },
  { accountId: 'acc/1' },
  { accountId: '\ud83d' },
  { recordId: 'record-1' },
  { receivedAt: '9999-12-31T23:59:59-12:00' },
]
