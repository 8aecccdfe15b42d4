import { afterEach, describe, expect, test } from '@jest/globals'
import { readMark, writeMark } from '../../../event-log/reading/mark.ts'
import type { PositionReported } from '../../../schemas/events/position-reported.ts'
import { eventually } from '../../eventually.ts'
import { positionReported, T0 } from '../../samples.ts'
import { startStreaming, type StreamHarness } from './stream-harness.ts'

let harness: StreamHarness

async function start(options: Parameters<typeof startStreaming>[0] = {}) {
  harness = await startStreaming(options)
  return harness
}

afterEach(() => harness.close())

const SMALL = { ringEntries: 50, chunkBytes: 1024, gatherMs: 0 }

describe('resuming readers', () => {
  test('a resuming reader continues from the ring', async () => {
    const { eventLog, listen } = await start({ stream: { catchingUp: 0 } })
    const first = await listen()
    const events = some(40)
    await eventLog.append(events.slice(0, 10))
    await eventually(() => first.events.length === 10)
    first.close()
    await eventLog.append(events.slice(10))
    const again = await listen({ lastEventId: first.events[4]?.id ?? '' })
    await eventually(() => again.events.length >= 35)
    expect(again.recordIds()).toEqual(ids(events.slice(5)))
  })

  test('a resuming reader misses and repeats nothing while thousands are appended, wherever it disconnects', async () => {
    const { eventLog, listen } = await start({ stream: SMALL })
    const events = some(6_000)
    const received: string[] = []
    let lastEventId = (await listen()).lastEventId()
    const appending = (async () => {
      for (let at = 0; at < events.length; at += 20)
        await eventLog.append(events.slice(at, at + 20))
    })()
    const shares = [1, 7, 150, 900, 1_500]
    while (received.length < events.length) {
      const source = await listen({ lastEventId })
      const enough = Math.min(shares.shift() ?? Infinity, events.length - received.length)
      // The service ends a reader slower than the log grows; it resumes like any other.
      await eventually(() => source.of('position').length >= enough || source.hasEnded(), {
        everyMs: 1,
      })
      source.close()
      received.push(...source.recordIds())
      lastEventId = source.events.at(-1)?.id ?? lastEventId
      expect(source.of('gap')).toEqual([])
    }
    await appending
    expect(received).toEqual(ids(events))
  })

  test('every event has an id from which a reader can resume right after it, both past and live', async () => {
    const { eventLog, listen } = await start({ stream: SMALL })
    await listen()
    await eventLog.append(some(700))
    const again = await listen(FROM_THE_START)
    for (let total = 720; total <= 800; total += 20) {
      await eventLog.append(some(20))
      await eventually(() => again.events.length === total)
    }
    expect(again.events.map(({ id }) => offsetsIn(id))).toEqual(
      again.events.map((_, index) => ({ 0: index + 1 })),
    )
  })

  test('a resuming reader gets recent entries even if the log had no reader meanwhile', async () => {
    const { eventLog, listen, metric } = await start({ stream: { catchingUp: 0, lingersMs: 0 } })
    const first = await listen()
    first.close()
    await eventually(async () => (await metric('gps_stream_readers')) === 0)
    const events = some(100)
    await eventLog.append(events)
    const again = await listen({ lastEventId: first.lastEventId() })
    await eventually(() => again.events.length >= 100)
    expect(again.recordIds()).toEqual(ids(events))
  })

  test('a resuming reader gets a gap where retention was faster, then everything left', async () => {
    const { eventLog, listen } = await start({ stream: SMALL })
    const begin = (await listen()).lastEventId()
    const old = some(100, { receivedAt: T0 })
    const kept = some(200, { receivedAt: T0 + 60_000 })
    await eventLog.append([...old, ...kept])
    await eventLog.trim(T0 + 1)
    const again = await listen({ lastEventId: begin })
    await eventually(() => again.of('position').length >= kept.length)
    expect(again.events[0]).toMatchObject({
      event: 'gap',
      hasId: false,
      data: {
        reason:
          'log entries after the Last-Event-ID are gone, or the log is another one: the available ones follow',
      },
    })
    expect(again.recordIds()).toEqual(ids(kept))
    expect(again.of('gap')).toHaveLength(1)
  })

  test('a resuming reader with an id beyond the end of the log gets a gap and misses nothing new', async () => {
    const { eventLog, listen } = await start()
    await eventLog.append(some(3))
    const source = await listen({ lastEventId: writeMark({ offsets: { 0: 10_000, 7: 1 } }) })
    const events = some(3)
    await eventLog.append(events)
    await eventually(() => source.of('position').length === 3)
    expect(source.events[0]).toMatchObject({ event: 'gap' })
    expect(source.recordIds()).toEqual(ids(events))
  })

  test.each([
    ['as far as the ring reaches', { stream: {} }, 20],
    ['however far back', { stream: SMALL }, 400],
  ])(
    'a reader resuming on a restored log gets a gap although its offsets exist again, %s',
    async (_name, options, since) => {
      const kept = some(20, { receivedAt: T0 })
      const before = await start(options)
      await before.eventLog.append(kept)
      const reader = await before.listen()
      await before.eventLog.append(some(10, { receivedAt: T0 + 1_000 }))
      await eventually(() => reader.events.length === 10)
      const lastEventId = reader.lastEventId()
      await before.close()

      const { eventLog, listen } = await start(options)
      const others = some(since, { receivedAt: T0 + 60_000 })
      await eventLog.append([...kept, ...others])
      const again = await listen({ lastEventId })
      const live = some(1)
      await eventLog.append(live)
      await eventually(() => again.recordIds().includes(live[0]?.recordId ?? ''))
      expect(again.events[0]?.event).toBe('gap')
      expect(again.of('gap')).toHaveLength(1)
      const shown = again.recordIds().filter((id) => ids(others).includes(id))
      expect(shown.length).toBeGreaterThanOrEqual(20)

      const resumed = await listen({ lastEventId: again.lastEventId() })
      const more = some(1)
      await eventLog.append(more)
      await eventually(() => resumed.events.length > 0)
      expect(resumed.recordIds()).toEqual(ids(more))
    },
  )

  test('a resuming reader gets a 503 while too many others read the past, unless the ring reaches back to its mark', async () => {
    const { eventLog, listen, open } = await start({ stream: { ...SMALL, catchingUp: 0 } })
    const live = await listen()
    const begin = live.lastEventId()
    for (const portion of [40, 80, 100]) {
      await eventLog.append(some(portion - live.events.length))
      await eventually(() => live.events.length === portion)
    }
    const refused = await open({ lastEventId: begin })
    expect(refused.status).toBe(503)
    const { message } = await refused.error()
    expect(message).toBe('too many streams are catching up, please connect again')
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1)
    const again = await listen({ lastEventId: live.events[70]?.id ?? '' })
    await eventually(() => again.events.length === 29)
  })

  test('a resuming reader frees its slot for the past once it has reached the ring', async () => {
    const { eventLog, listen, open } = await start({
      stream: { ...SMALL, catchingUp: 1, heartbeatMs: 5 },
    })
    const live = await listen()
    for (let round = 1; round <= 3; round += 1) {
      await eventLog.append(some(40, { accountId: 'acc-2' }))
      await eventually(() => offsetsIn(live.lastEventId())?.[0] === round * 40)
    }
    for (let time = 0; time < 3; time += 1) {
      const source = await open(FROM_THE_START)
      expect(source.status).toBe(200)
      await eventually(() => source.lastEventId() === live.lastEventId())
    }
  })
})

describe('erased devices', () => {
  test('an erased device is not shown from the ring', async () => {
    const { eventLog, listen, erase } = await start({ stream: { catchingUp: 0 } })
    const live = await listen()
    const before = [some(3), some(2, { deviceId: 'other' })] as const
    await eventLog.append(before.flat())
    await erase('tracker-1')
    const after = some(1)
    await eventLog.append(after)
    await eventually(() => live.events.length === 6)
    const again = await listen(FROM_THE_START)
    await eventually(() => again.recordIds().includes(after[0]?.recordId ?? ''))
    expect(again.recordIds()).toEqual(ids([...before[1], ...after]))
  })

  test('an erased device is not shown to the first reader before the log has been read up to the erasure', async () => {
    const { eventLog, listen, erase } = await start({ stream: { catchingUp: 0 } })
    const other = some(1_500, { deviceId: 'other' })
    await eventLog.append([...some(3), ...other])
    await erase('tracker-1')
    const source = await listen(FROM_THE_START)
    await eventually(() => source.events.length >= other.length)
    expect(source.recordIds()).toEqual(ids(other))
  })

  test.each(['while the projector has not come so far', 'once it is projected'])(
    'an erased device is not replayed from the log %s',
    async (when) => {
      const { eventLog, listen, erase, project, store } = await start({ stream: SMALL })
      await listen()
      const device = { accountId: 'acc-1', deviceId: 'tracker-1' }
      const gone = some(600)
      const other = some(600, { deviceId: 'other' })
      await eventLog.append(gone.flatMap((event, at) => [event, other[at] ?? event]))
      await erase(device.deviceId)
      const after = some(2)
      await eventLog.append([...after, ...some(100, { accountId: 'acc-2' })])
      if (when === 'once it is projected') {
        project()
        await eventually(() => store.findDevice(device))
      }
      const again = await listen(FROM_THE_START)
      await eventually(() => again.of('position').length >= 602)
      expect(again.recordIds()).toEqual(ids([...other, ...after]))
    },
  )

  test('spooled reports of an erased device reach no reader', async () => {
    const { clock, eventLog, listen, erase } = await start({ stream: SMALL })
    const device = { deviceId: 'tracker-1', receivedAt: clock.now() - 1 }
    const overtaken = [1, 2, 3].map(() => positionReported(device))
    await eventLog.append([positionReported()])
    await erase('tracker-1')
    // The feed will start after the erasure, which only the store knows.
    await eventLog.append(some(100, { accountId: 'acc-2' }))
    await eventLog.append(overtaken.slice(0, 1), { spooled: true })
    const first = await listen()
    await eventLog.append(overtaken.slice(1, 2), { spooled: true })
    await erase('tracker-1')
    await eventLog.append(overtaken.slice(2), { spooled: true })
    const kept = [
      positionReported({ receivedAt: clock.now() + 1 }),
      positionReported({ deviceId: 'tracker-2', receivedAt: clock.now() - 1 }),
    ]
    await eventLog.append(kept, { spooled: true })
    await eventually(() => first.recordIds().length >= 2)
    expect(first.recordIds()).toEqual(ids(kept))
    const again = await listen(FROM_THE_START)
    await eventually(() => again.recordIds().length >= 2)
    expect(again.recordIds()).toEqual(ids(kept))
  })

  test('a reader waits for a pending erasure that is not in the log yet', async () => {
    const { eventLog, listen, open, store, project } = await start({
      stream: { ...SMALL, pendingMs: 300, heartbeatMs: 5 },
    })
    const live = await listen()
    for (const upTo of [40, 80, 120]) {
      const others = some(37, { accountId: 'acc-2' })
      await eventLog.append([...some(3), ...others])
      await eventually(() => offsetsIn(live.lastEventId())?.[0] === upTo)
    }
    const event = { accountId: 'acc-1', deviceId: 'tracker-1', erasedAt: T0 }
    const eventId = '01KDVN9C00ERASED9000000000'
    await store.hideErased({ ...event, eventId })
    const stuck = await open(FROM_THE_START)
    await eventually(() => stuck.hasEnded())
    expect(stuck.events.map(({ event }) => event)).toEqual(['lagging'])

    await eventLog.erase({ ...event, eventId })
    const after = some(1)
    await eventLog.append(after)
    project()
    const again = await listen(FROM_THE_START)
    await eventually(() => again.of('position').length > 0)
    expect(again.recordIds()).toEqual(ids(after))
  })
})

/** The id of a reader that connected before the first event of a single-file log. */
const FROM_THE_START = { lastEventId: writeMark({ offsets: { 0: 0 } }) }

function offsetsIn(id: string | undefined) {
  return readMark(id ?? '')?.offsets
}

function some(count: number, changes: Partial<PositionReported> = {}): PositionReported[] {
  return Array.from({ length: count }, () => positionReported(changes))
}

function ids(events: readonly PositionReported[]): string[] {
  return events.map(({ recordId }) => recordId)
}
