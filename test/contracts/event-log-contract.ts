import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import type { EventLog, LogBatch, LogEntry, TailItem } from '../../event-log/event-log.ts'
import type { PositionReported } from '../../schemas/position-reported.ts'
import { deviceKey, encodePositionReported } from '../../schemas/position-reported.ts'
import type { Offsets } from '../../schemas/read-models.ts'
import { eventually } from '../eventually.ts'
import { positionReported, T0 } from '../samples.ts'

export type OpenedEventLog = {
  /** A log that is empty. */
  readonly log: EventLog
  /** Another instance on the same data; those before it may be closed by then or still open. */
  reopen(): Promise<EventLog>
  /** Puts a value, marked as a position report, where `key` belongs, behind the adapter's back. */
  putRaw(value: Uint8Array | null, key: string): Promise<void>
  /** Closes every instance it gave, also those that are closed already, and removes the data. */
  close(): Promise<void>
}

/** A day after the samples begin. */
const NOW = T0 + 24 * 60 * 60 * 1000
/** Joining a group, or finding out about new entries, may take an adapter seconds. */
const SOON = { withinMs: 30_000 }

/** What every adapter of the EventLog port keeps. `open` is given the clock the log is to use. */
export function eventLogContract(
  name: string,
  open: (options: { clock: { now(): number } }) => Promise<OpenedEventLog>,
): void {
  describe(`${name} keeps the event log's promises`, () => {
    let opened: OpenedEventLog
    let log: EventLog
    const consumers: Consumer[] = []

    beforeEach(async () => {
      opened = await open({ clock: { now: () => NOW } })
      log = opened.log
    }, 60_000)

    afterEach(async () => {
      await Promise.all(consumers.splice(0).map((consumer) => consumer.stop()))
      await opened.close()
    }, 60_000)

    function consume(from: EventLog, options: Partial<ConsumerOptions> = {}): Consumer {
      const consumer = startConsumer(from, options)
      consumers.push(consumer)
      return consumer
    }

    /** Names are sentences, so the time each may take stands here once. */
    function promise(sentence: string, check: () => Promise<void>) {
      test(sentence, check, 90_000)
    }

    promise('what was acknowledged is there after the log is opened again', async () => {
      const events = samples(3)
      await log.append(events.slice(0, 2))
      await log.append(events.slice(2))
      await log.close()
      const reader = consume(await opened.reopen())
      await eventually(() => reader.events().length >= 3, SOON)
      expect(reader.events()).toEqual(events)
    })

    promise('every field comes back as it was appended', async () => {
      const full = positionReported({
        deviceId: 'Traktor Süd 7 / 🚜 "$x"',
        timestampSource: 'server',
        latitude: -90,
        longitude: 180,
        accuracy: 0.1 + 0.2,
        altitude: -12_000,
        speed: 1e-7,
        heading: 360,
        battery: 0.25,
      })
      await log.append([full])
      const reader = consume(log)
      await eventually(() => reader.events().length > 0, SOON)
      expect(reader.events()).toEqual([full])
    })

    promise('appending nothing is done', async () => {
      await log.append([])
    })

    promise('events of a device keep their order under 50 concurrent appends', async () => {
      const appends = Array.from({ length: 50 }, (_, index) =>
        Array.from({ length: 4 }, (_, at) => sample(`tracker-${(index + at) % 5}`)),
      )
      await Promise.all(appends.map((events) => log.append(events)))
      const reader = consume(log)
      await eventually(() => reader.events().length >= 200, SOON)
      for (const device of new Set(appends.flat().map(deviceKey))) {
        const events = appends.flat().filter((event) => deviceKey(event) === device)
        const seen = reader.entries().filter((entry) => entryKey(entry) === device)
        expect(seen.map(recordId)).toEqual(events.map((event) => event.recordId))
        expect(new Set(seen.map(({ origin }) => origin.partition)).size).toBe(1)
        expect(isRising(seen.map(({ origin }) => origin.offset))).toBe(true)
      }
      expect(reader.events()).toHaveLength(200)
    })

    promise('batches hold 1 to 500 consecutive entries of one partition', async () => {
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
    })

    promise('events appended while a subscription runs reach it', async () => {
      const reader = consume(log)
      for (const event of samples(3)) {
        await log.append([event])
        await eventually(() => reader.events().at(-1)?.recordId === event.recordId, SOON)
      }
      expect(reader.events()).toHaveLength(3)
    })

    promise('a batch that is rejected comes again, and nothing behind it before', async () => {
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

    promise('a group goes on where it was, also after the log is opened again', async () => {
      const group = aGroup()
      const events = samples(5)
      await log.append(events.slice(0, 3))
      const before = consume(log, { group })
      await eventually(() => before.events().length >= 3, SOON)
      await before.stop()
      await log.append(events.slice(3))
      await log.close()

      const after = consume(await opened.reopen(), { group })
      await eventually(() => after.events().length >= 2, SOON)
      expect(after.events()).toEqual(events.slice(3))
    })

    promise('what was not resolved when the group ended is delivered to it again', async () => {
      const group = aGroup()
      const events = samples(2)
      await log.append(events)
      const failing = consume(log, {
        group,
        onBatch: () => Promise.reject(new Error('the store is away')),
      })
      await eventually(() => failing.attempts.length > 0, SOON)
      await failing.stop()

      const after = consume(await opened.reopen(), { group })
      await eventually(() => after.events().length >= 2, SOON)
      expect(after.events()).toEqual(events)
    })

    promise('resumeAfter wins over what the group has committed', async () => {
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

    promise('groups do not wait for one another', async () => {
      const events = samples(3)
      await log.append(events)
      const stuck = consume(log, { onBatch: () => Promise.reject(new Error('stuck')) })
      const other = consume(log)
      await eventually(() => other.events().length >= 3 && stuck.attempts.length > 0, SOON)
      expect(other.events()).toEqual(events)
      expect(stuck.events()).toEqual([])
    })

    promise('what cannot be read is delivered in its place, bytes untouched', async () => {
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
    })

    promise('dead letters are kept and counted, also after the log is opened again', async () => {
      expect(await log.deadLetters()).toBe(0)
      await log.deadLetter([])
      await opened.putRaw(Buffer.from('rubbish'), 'acc-1/tracker-1')
      await opened.putRaw(null, 'acc-1/tracker-1')
      const reader = consume(log)
      await eventually(() => reader.entries().length >= 2, SOON)
      await log.deadLetter(
        reader.entries().flatMap((entry) => (entry.kind === 'unreadable' ? [entry] : [])),
      )
      expect(await log.deadLetters()).toBe(2)
      const again = await opened.reopen()
      expect(await again.deadLetters()).toBe(2)
    })

    promise('a tail from the end gives what comes, in order, and nothing before', async () => {
      await log.append(samples(3))
      const tail = startTail(log, 'end')
      // The end may be fixed only while the tail is being read, so the first events can pass it.
      const appended: PositionReported[] = []
      await eventually(async () => {
        appended.push(sample())
        await log.append(appended.slice(-1))
        return tail.events().length > 0
      }, SOON)
      await eventually(() => tail.events().at(-1)?.recordId === appended.at(-1)?.recordId, SOON)
      expect(tail.events()).toEqual(appended.slice(-tail.events().length))
      await tail.stop()
    })

    promise('a tail from a mark gives everything after it, then what comes', async () => {
      const events = samples(4)
      await log.append(events.slice(0, 3))
      const reader = consume(log)
      await eventually(() => reader.events().length >= 3, SOON)
      const { partition, offset } = reader.entries()[0]!.origin

      const tail = startTail(log, { [partition]: offset })
      await eventually(() => tail.events().length >= 2, SOON)
      await log.append(events.slice(3))
      await eventually(() => tail.events().length >= 3, SOON)
      expect(tail.events()).toEqual(events.slice(1))
      expect(tail.items.every(({ kind }) => kind === 'batch')).toBe(true)
      await tail.stop()
    })

    promise('a tail commits nothing, and ends when it is aborted while it waits', async () => {
      const events = samples(2)
      await log.append(events)
      const tail = startTail(log, {})
      await eventually(() => tail.events().length >= 2, SOON)
      expect(tail.events()).toEqual(events)
      await tail.stop()
      const reader = consume(log)
      await eventually(() => reader.events().length >= 2, SOON)
      expect(reader.events()).toEqual(events)
    })

    promise('lag tells how far behind a group is, in events and in age', async () => {
      const group = aGroup()
      expect(await log.lag(group)).toEqual({ events: 0, seconds: 0 })
      await log.append([
        positionReported({ receivedAt: NOW - 90_000 }),
        positionReported({ receivedAt: NOW - 30_000 }),
      ])
      expect(await log.lag(group)).toEqual({ events: 2, seconds: 90 })
      const reader = consume(log, { group })
      await eventually(() => reader.events().length >= 2, SOON)
      await eventually(async () => (await log.lag(group)).events === 0, SOON)
      expect(await log.lag(group)).toEqual({ events: 0, seconds: 0 })
    })

    promise('what it holds, and what a group has committed of it, can be asked', async () => {
      const group = aGroup()
      const empty = await log.extent()
      expect(empty.length).toBeGreaterThan(0)
      expect(empty.every(({ first, next, whole }) => first === next && whole)).toBe(true)
      expect(await log.committed(group)).toEqual({})

      await log.append(samples(3))
      const reader = consume(log, { group })
      await eventually(() => reader.events().length >= 3, SOON)
      const origins = reader.entries().map(({ origin }) => origin)
      const { partition } = origins[0]!
      const held = (await log.extent()).find((one) => one.partition === partition)
      expect(held).toEqual({
        partition,
        first: origins[0]!.offset,
        next: origins[2]!.offset + 1,
        whole: true,
      })
      await eventually(
        async () => (await log.committed(group))[partition] === origins[2]!.offset,
        SOON,
      )
    })

    promise('an aborted subscription finishes the batch in hand before it ends', async () => {
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
      const next = consume(log, { group })
      await log.append([sample()])
      await eventually(() => next.events().length > 0, SOON)
      expect(next.events()[0]?.recordId).not.toBe(events[0]!.recordId)
      expect(inHand).toBeGreaterThan(0)
    })

    promise('a subscription that is aborted beforehand delivers nothing', async () => {
      await log.append(samples(1))
      const reader = consume(log, { signal: AbortSignal.abort() })
      await reader.ended
      expect(reader.attempts).toEqual([])
    })

    promise('nothing is delivered before others can read it, and what is stays', async () => {
      const seenElsewhere: boolean[] = []
      const reader = consume(log, {
        async onBatch({ entries }) {
          const elsewhere = startTail(await opened.reopen(), {})
          const last = recordId(entries.at(-1)!)
          await eventually(() => elsewhere.events().some((e) => e.recordId === last), SOON)
          seenElsewhere.push(true)
          await elsewhere.stop()
        },
      })
      const append = log.append(samples(2))
      await eventually(() => reader.events().length >= 2, SOON)
      await append
      expect(seenElsewhere).toContain(true)
    })

    promise('a log that is open is ready', async () => {
      await log.ready()
    })

    promise('a closed log takes nothing more, and says that a retry may help', async () => {
      await log.ready()
      await log.close()
      const closed = { name: 'DependencyError', retriable: true }
      await expect(log.append(samples(1))).rejects.toMatchObject(closed)
      await expect(log.ready()).rejects.toMatchObject({ name: 'DependencyError' })
      await log.close()
    })

    promise('closing finishes what is queued', async () => {
      const appends = Array.from({ length: 20 }, () => log.append(samples(30)))
      await Promise.all([log.close(), ...appends])
      const reader = consume(await opened.reopen())
      await eventually(() => reader.events().length >= 600, SOON)
      expect(reader.events()).toHaveLength(600)
    })
  })
}

type ConsumerOptions = {
  readonly group: string
  readonly resumeAfter: Offsets
  /** Decides the fate of a batch; without it all are taken. */
  readonly onBatch: (batch: LogBatch) => Promise<void>
  readonly signal: AbortSignal
}

type Consumer = {
  /** Every batch that was delivered, and those whose delivery resolved. */
  readonly attempts: readonly LogBatch[]
  readonly batches: readonly LogBatch[]
  entries(): LogEntry[]
  events(): PositionReported[]
  readonly ended: Promise<void>
  stop(): Promise<void>
}

function startConsumer(log: EventLog, options: Partial<ConsumerOptions>): Consumer {
  const { group = aGroup(), resumeAfter, onBatch, signal } = options
  const attempts: LogBatch[] = []
  const batches: LogBatch[] = []
  const stopping = new AbortController()
  const ended = log.subscribe({
    group,
    ...(resumeAfter === undefined ? {} : { resumeAfter }),
    signal: signal ?? stopping.signal,
    async onBatch(batch) {
      attempts.push(batch)
      await onBatch?.(batch)
      batches.push(batch)
    },
  })
  const entries = () => batches.flatMap((batch) => batch.entries)
  return {
    attempts,
    batches,
    entries,
    events: () => entries().flatMap((entry) => (entry.kind === 'position' ? [entry.event] : [])),
    ended,
    stop() {
      stopping.abort()
      return ended
    },
  }
}

function startTail(log: EventLog, after: Offsets | 'end') {
  const items: TailItem[] = []
  const stopping = new AbortController()
  const reading = (async () => {
    for await (const item of log.tail({ after, signal: stopping.signal })) items.push(item)
  })()
  return {
    items,
    events: () =>
      items
        .flatMap((item) => (item.kind === 'batch' ? item.entries : []))
        .flatMap((entry) => (entry.kind === 'position' ? [entry.event] : [])),
    stop() {
      stopping.abort()
      return reading
    },
  }
}

function aGroup(): string {
  return `group-${randomUUID()}`
}

function sample(deviceId = 'tracker-1'): PositionReported {
  return positionReported({ deviceId })
}

function samples(count: number): PositionReported[] {
  return Array.from({ length: count }, () => sample())
}

function recordId(entry: LogEntry): string | undefined {
  return entry.kind === 'position' ? entry.event.recordId : undefined
}

function entryKey(entry: LogEntry): string | undefined {
  return entry.kind === 'position' ? deviceKey(entry.event) : undefined
}

function originText({ origin }: LogEntry): string {
  return `${origin.partition}/${origin.offset}`
}

function isRising(numbers: readonly number[]): boolean {
  return numbers.every((number, index) => index === 0 || number > numbers[index - 1]!)
}

/** Bytes as text: their arrays may be of any class and realm. */
function hex(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes).toString('hex')
}
