import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { deviceStatus } from '../../projector/device-status.ts'
import type { DeviceSeen } from '../../schemas/device-seen.ts'
import type { PositionReported } from '../../schemas/position-reported.ts'
import type { DeviceStatus } from '../../schemas/read-models.ts'
import { deviceSeen, positionReported, T0 } from '../samples.ts'

const HOUR_MS = 3_600_000

function fold(events: readonly (PositionReported | DeviceSeen)[], partition = 0): DeviceStatus {
  return events.reduce<DeviceStatus | undefined>(
    (previous, event, offset) => deviceStatus(previous, { origin: { partition, offset }, event }),
    undefined,
  ) as DeviceStatus
}

describe('device status', () => {
  test('the first report of a device is its status', () => {
    const event = positionReported({ speed: 3, receivedAt: T0 })
    expect(fold([event])).toEqual({
      accountId: event.accountId,
      deviceId: event.deviceId,
      firstSeenAt: T0,
      lastSeenAt: T0,
      lastReceivedAt: T0,
      lastReceivedId: event.recordId,
      lastKeyId: event.keyId,
      reportCount: 1,
      lastPosition: {
        recordId: event.recordId,
        latitude: event.latitude,
        longitude: event.longitude,
        timestamp: event.timestamp,
        receivedAt: T0,
        speed: 3,
      },
      lastOrigin: { partition: 0, offset: 0 },
      applied: { 0: 0 },
    })
  })

  test('a late report is counted and seen, and does not move the position back', () => {
    const newer = positionReported({ timestamp: T0 + HOUR_MS, receivedAt: T0 + HOUR_MS })
    const late = positionReported({ timestamp: T0, receivedAt: T0 + 2 * HOUR_MS })
    const status = fold([newer, late])
    expect(status).toMatchObject({ reportCount: 2, lastSeenAt: T0 + 2 * HOUR_MS })
    expect(status.lastPosition.recordId).toBe(newer.recordId)
  })

  test('a heartbeat moves when a device was last seen, and with which key, forward only, and nothing else', () => {
    const first = fold([positionReported({ receivedAt: T0 })])
    const eventId = '01KDVN9C03HEARTBEAT0000000'
    const heard = (previous: DeviceStatus | undefined, offset: number, receivedAt: number) =>
      deviceStatus(previous, {
        origin: { partition: 0, offset },
        event: deviceSeen({ eventId, receivedAt, keyId: 'key-2' }),
      })
    const second = heard(first, 1, T0 + HOUR_MS)
    expect(second).toEqual({
      ...first,
      lastSeenAt: T0 + HOUR_MS,
      lastReceivedAt: T0 + HOUR_MS,
      lastReceivedId: eventId,
      lastKeyId: 'key-2',
      heartbeats: { 0: { offset: 1, receivedAt: T0 + HOUR_MS, eventId, keyId: 'key-2' } },
      applied: { 0: 1 },
    })
    expect(heard(second, 1, T0 + 2 * HOUR_MS)).toBe(second)
    expect(heard(second, 2, T0 + 1)).toEqual({ ...second, applied: { 0: 2 } })
    expect(heard(undefined, 1, T0)).toBeUndefined()
  })

  test('an imported position was seen at its own time, and received when it was', () => {
    const imported = true as const
    const receivedAt = T0 + 9 * HOUR_MS
    const old = positionReported({ timestamp: T0 - HOUR_MS, receivedAt, imported })
    const ahead = positionReported({ timestamp: T0 + 10 * HOUR_MS, receivedAt, imported })
    const live = positionReported({ timestamp: T0, receivedAt: T0 })
    for (const events of [
      [live, old],
      [old, live],
    ]) {
      expect(fold(events)).toMatchObject({
        ...{ firstSeenAt: T0 - HOUR_MS, lastSeenAt: T0, lastReceivedAt: receivedAt },
        ...{ reportCount: 2, lastPosition: { recordId: live.recordId } },
      })
    }
    expect(fold([ahead])).toMatchObject({
      ...{ firstSeenAt: receivedAt, lastSeenAt: receivedAt, lastReceivedAt: receivedAt },
      lastPosition: { imported: true },
    })
  })

  test('a timestamp in the future never pins the position', () => {
    const future = positionReported({ timestamp: T0 + 20 * HOUR_MS, receivedAt: T0 })
    const next = positionReported({ timestamp: T0 + 1_000, receivedAt: T0 + 1_000 })
    expect(fold([future, next]).lastPosition.recordId).toBe(next.recordId)
  })

  test('an event at or below what is applied gives back the very same status', () => {
    const status = fold([positionReported(), positionReported()], 3)
    const event = positionReported()
    expect(deviceStatus(status, { origin: { partition: 3, offset: 1 }, event })).toBe(status)
    expect(deviceStatus(status, { origin: { partition: 3, offset: 0 }, event })).toBe(status)
    expect(deviceStatus(status, { origin: { partition: 4, offset: 0 }, event })).toMatchObject({
      reportCount: 3,
      applied: { 3: 1, 4: 0 },
    })
  })

  test('the status has the key of the report received last; of concurrent ones, the greatest id', () => {
    const reported = (keyId: string, receivedAt: number, changes: Partial<PositionReported> = {}) =>
      positionReported({ keyId, receivedAt, ...changes })
    const late = reported('key-2', T0 + 2, { timestamp: T0 - HOUR_MS })
    expect(fold([reported('key-1', T0 + 1), late]).lastKeyId).toBe('key-2')
    expect(fold([late, reported('key-1', T0 + 1)]).lastKeyId).toBe('key-2')
    const greatest = reported('key-3', T0 + 2, { recordId: `${late.recordId.slice(0, -1)}Z` })
    expect(fold([greatest, late]).lastKeyId).toBe('key-3')
    expect(fold([late, greatest]).lastKeyId).toBe('key-3')
  })

  test('of positions of equal times the last in the log is the last position, whatever their ids', () => {
    const sent = { timestamp: T0, receivedAt: T0 }
    const ids = ['B', 'A', 'C'].map((id) => positionReported({ ...sent, recordId: `record-${id}` }))
    for (const [n, event] of ids.entries()) {
      const status = fold(ids.slice(0, n + 1))
      expect(status.lastPosition.recordId).toBe(event.recordId)
      expect(status.lastOrigin).toEqual({ partition: 0, offset: n })
    }
  })

  test('events at the same places in the log give the same last position, however partitions take turns', () => {
    const placed = [3, 1, 2].flatMap((partition) =>
      [0, 1].map((offset) => ({
        origin: { partition, offset },
        event: positionReported({ timestamp: T0, receivedAt: T0 }),
      })),
    )
    fc.assert(
      fc.property(fc.shuffledSubarray([1, 1, 2, 2, 3, 3], { minLength: 6 }), (turns) => {
        const next = new Map([1, 2, 3].map((partition) => [partition, 0]))
        const entries = turns.map((partition) => {
          const offset = next.get(partition) ?? 0
          next.set(partition, offset + 1)
          return placed.find(
            ({ origin }) => origin.partition === partition && origin.offset === offset,
          )!
        })
        const status = entries.reduce<DeviceStatus | undefined>(deviceStatus, undefined)
        expect(status?.lastOrigin).toEqual({ partition: 3, offset: 1 })
      }),
    )
  })

  test('a status of an earlier version gives way to the next equal position of its only partition', () => {
    const sent = { timestamp: T0, receivedAt: T0 }
    const { lastOrigin: _none, ...older } = fold(
      [positionReported({ ...sent, recordId: 'record-M' })],
      2,
    )
    const after = (partition: number, recordId: string, applied = older.applied) =>
      deviceStatus(
        { ...older, applied },
        { origin: { partition, offset: 5 }, event: positionReported({ ...sent, recordId }) },
      ).lastPosition.recordId
    expect(after(2, 'record-A')).toBe('record-A')
    expect(after(3, 'record-A')).toBe('record-A')
    expect(after(1, 'record-Z')).toBe('record-M')
    const several = { 1: 0, 2: 0 }
    expect([after(1, 'record-Z', several), after(2, 'record-A', several)]).toEqual([
      'record-Z',
      'record-M',
    ])
  })

  test('any order of reports, and of heartbeats after the first, gives the same status', () => {
    const time = fc.integer({ min: 0, max: 5 }).map((step) => T0 + step * 1_000)
    const keyId = fc.constantFrom('key-1', 'key-2', 'key-3')
    const sent = { receivedAt: time, keyId }
    const position = fc
      .record(
        { ...sent, timestamp: time, imported: fc.constant(true as const) },
        { requiredKeys: ['receivedAt', 'keyId', 'timestamp'] },
      )
      .map((changes) => positionReported(changes))
    const heartbeat = fc.record(sent).map((changes) => deviceSeen(changes))
    const events = fc.array(fc.oneof(position, position, heartbeat), { maxLength: 8 })
    const shuffled = events.chain((events) =>
      fc.record({
        events: fc.constant(events),
        reordered: fc.shuffledSubarray(events, { minLength: events.length }),
      }),
    )
    fc.assert(
      fc.property(position, shuffled, (first, { events, reordered }) => {
        const [one, other] = [fold([first, ...reordered]), fold([first, ...events])]
        expect(withoutPlaces(one)).toEqual(withoutPlaces(other))
        // Of positions of equal times the place in the log decides, which is another after reordering.
        expect(timesOf(one)).toEqual(timesOf(other))
      }),
    )
  })
})

/** A heartbeat's own offset depends on the order. */
function withoutPlaces({
  heartbeats = {},
  lastOrigin: _origin,
  lastPosition: _last,
  ...status
}: DeviceStatus) {
  const newest = Object.values(heartbeats).map(({ offset: _offset, ...heartbeat }) => heartbeat)
  return { ...status, newest }
}

function timesOf({ lastPosition: { timestamp, receivedAt } }: DeviceStatus) {
  return [Math.min(timestamp, receivedAt), receivedAt]
}
