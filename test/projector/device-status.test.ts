import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { deviceStatus } from '../../projector/device-status.ts'
import { telemetryOf } from '../../schemas/devices/device-readings.ts'
import type { DeviceSeen } from '../../schemas/events/device-seen.ts'
import type { PositionReported } from '../../schemas/events/position-reported.ts'
import type { DeviceStatus } from '../../schemas/devices/read-models.ts'
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
      lastKeyAt: T0,
      lastKeyEventId: event.recordId,
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

  test('a late report counts as seen and does not move the position back', () => {
    const newer = positionReported({ timestamp: T0 + HOUR_MS, receivedAt: T0 + HOUR_MS })
    const late = positionReported({ timestamp: T0, receivedAt: T0 + 2 * HOUR_MS })
    const status = fold([newer, late])
    expect(status).toMatchObject({ reportCount: 2, lastSeenAt: T0 + 2 * HOUR_MS })
    expect(status.lastPosition.recordId).toBe(newer.recordId)
  })

  test('a heartbeat updates only the last-seen time and key, and only forward', () => {
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
      lastKeyAt: T0 + HOUR_MS,
      lastKeyEventId: eventId,
      lastKeyId: 'key-2',
      heartbeats: { 0: { offset: 1, receivedAt: T0 + HOUR_MS, eventId, keyId: 'key-2' } },
      applied: { 0: 1 },
    })
    expect(heard(second, 1, T0 + 2 * HOUR_MS)).toBe(second)
    expect(heard(second, 2, T0 + 1)).toEqual({ ...second, applied: { 0: 2 } })
    expect(heard(undefined, 1, T0)).toBeUndefined()
  })

  test('an imported position counts as seen at its timestamp, and keeps its time of receipt', () => {
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
        firstSeenAt: T0 - HOUR_MS,
        lastSeenAt: T0,
        lastReceivedAt: receivedAt,
        reportCount: 2,
        lastPosition: { recordId: live.recordId },
      })
    }
    expect(fold([ahead])).toMatchObject({
      firstSeenAt: receivedAt,
      lastSeenAt: receivedAt,
      lastReceivedAt: receivedAt,
      lastPosition: { imported: true },
    })
  })

  test("an imported position never changes a device's key", () => {
    const keyId = 'key-import'
    const imported = (receivedAt: number) =>
      positionReported({ keyId, timestamp: T0 - HOUR_MS, receivedAt, imported: true })
    const alone = { lastKeyId: '', lastKeyAt: 0, lastKeyEventId: '' }
    const [first, later] = [imported(T0 + HOUR_MS), imported(T0 + 9 * HOUR_MS)]
    expect(fold([first, later])).toMatchObject({ ...alone, lastReceivedAt: T0 + 9 * HOUR_MS })
    const live = positionReported({ keyId: 'key-phone', receivedAt: T0 })
    const own = { lastKeyId: 'key-phone', lastKeyAt: T0, lastKeyEventId: live.recordId }
    for (const events of [
      [live, first, later],
      [first, live, later],
      [first, later, live],
    ]) {
      expect(fold(events)).toMatchObject({ ...own, lastReceivedAt: T0 + 9 * HOUR_MS })
    }
  })

  test('a timestamp in the future never pins the position', () => {
    const future = positionReported({ timestamp: T0 + 20 * HOUR_MS, receivedAt: T0 })
    const next = positionReported({ timestamp: T0 + 1_000, receivedAt: T0 + 1_000 })
    expect(fold([future, next]).lastPosition.recordId).toBe(next.recordId)
  })

  test('an event at or below the applied offset returns the same status object', () => {
    const status = fold([positionReported(), positionReported()], 3)
    const event = positionReported()
    expect(deviceStatus(status, { origin: { partition: 3, offset: 1 }, event })).toBe(status)
    expect(deviceStatus(status, { origin: { partition: 3, offset: 0 }, event })).toBe(status)
    expect(deviceStatus(status, { origin: { partition: 4, offset: 0 }, event })).toMatchObject({
      reportCount: 3,
      applied: { 3: 1, 4: 0 },
    })
  })

  test('the status has the key of the report received last, or of the greatest id among concurrent ones', () => {
    const reported = (keyId: string, receivedAt: number, changes: Partial<PositionReported> = {}) =>
      positionReported({ keyId, receivedAt, ...changes })
    const late = reported('key-2', T0 + 2, { timestamp: T0 - HOUR_MS })
    expect(fold([reported('key-1', T0 + 1), late]).lastKeyId).toBe('key-2')
    expect(fold([late, reported('key-1', T0 + 1)]).lastKeyId).toBe('key-2')
    const greatest = reported('key-3', T0 + 2, { recordId: `${late.recordId.slice(0, -1)}Z` })
    expect(fold([greatest, late]).lastKeyId).toBe('key-3')
    expect(fold([late, greatest]).lastKeyId).toBe('key-3')
  })

  test('among equal times, the last position in the log wins, regardless of ids', () => {
    const sent = { timestamp: T0, receivedAt: T0 }
    const ids = ['B', 'A', 'C'].map((id) => positionReported({ ...sent, recordId: `record-${id}` }))
    for (const [n, event] of ids.entries()) {
      const status = fold(ids.slice(0, n + 1))
      expect(status.lastPosition.recordId).toBe(event.recordId)
      expect(status.lastOrigin).toEqual({ partition: 0, offset: n })
    }
  })

  test('events at the same offsets give the same last position, however partitions interleave', () => {
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

  test('a status from an earlier version yields to the next equal position of its only partition', () => {
    const sent = { timestamp: T0, receivedAt: T0 }
    const older = {
      ...fold([positionReported({ ...sent, recordId: 'record-M' })], 2),
      lastOrigin: undefined,
    }
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

  describe('a repeat', () => {
    const first = positionReported({ timestamp: T0, receivedAt: T0, battery: 0.8 })
    const again = (changes: Partial<PositionReported>) => ({ ...first, ...changes })

    test('is a sign of life: it updates the last-seen time, the key and the telemetry', () => {
      const status = fold([first])
      const receivedAt = T0 + HOUR_MS
      const sent = { receivedAt, battery: 0.42, attributes: { charging: true } }
      const repeat = repeatIn(status, 1, again({ ...sent, keyId: 'key-2' }))
      expect(repeat).toEqual({
        ...status,
        lastSeenAt: receivedAt,
        lastReceivedAt: receivedAt,
        lastKeyAt: receivedAt,
        lastKeyEventId: first.recordId,
        lastKeyId: 'key-2',
        heartbeats: { 0: { offset: 1, receivedAt, eventId: first.recordId, keyId: 'key-2' } },
        readings: { repeats: { 0: { offset: 1, eventId: first.recordId, ...sent } } },
        applied: { 0: 1 },
      })
      expect(telemetryOf(repeat)).toEqual(sent)
      expect(repeatIn(repeat, 1, again(sent))).toBe(repeat)
    })

    test('of an older record is a sign of life that keeps the telemetry', () => {
      const newer = positionReported({ timestamp: T0 + 9, receivedAt: T0 + 9, battery: 0.7 })
      const status = repeatIn(
        fold([first, newer]),
        2,
        again({ receivedAt: T0 + HOUR_MS, battery: 0.1 }),
      )
      expect(status).toMatchObject({ lastSeenAt: T0 + HOUR_MS, reportCount: 2 })
      expect(telemetryOf(status)).toBeUndefined()
    })

    test('without battery and attributes keeps the telemetry', () => {
      const status = repeatIn(fold([first]), 1, again({ receivedAt: T0 + 1, battery: 0.4 }))
      const bare = positionReported({ recordId: first.recordId, receivedAt: T0 + 2 })
      expect(telemetryOf(repeatIn(status, 2, bare))).toEqual({ receivedAt: T0 + 1, battery: 0.4 })
    })

    test('that is imported changes nothing', () => {
      const status = fold([first])
      const repeat = again({ receivedAt: T0 + HOUR_MS, battery: 0.1, imported: true })
      expect(repeatIn(status, 1, repeat)).toBe(status)
    })

    test('of an unknown device changes nothing', () => {
      const entry = { origin: { partition: 0, offset: 1 }, event: first, kind: 'repeat' } as const
      expect(deviceStatus(undefined, entry)).toBeUndefined()
    })
  })

  describe('the telemetry of a device', () => {
    const position = (changes: Partial<PositionReported>) =>
      positionReported({ battery: 0.9, ...changes })
    const at = (receivedAt: number) => ({ timestamp: receivedAt, receivedAt })
    const heartbeat = (receivedAt: number, changes: Partial<DeviceSeen> = {}) =>
      deviceSeen({ receivedAt, battery: 0.3, ...changes })

    test('comes whole from its newest heartbeat with telemetry', () => {
      const ignition = heartbeat(T0 + 2, { battery: 0.3, attributes: { ignition: true } })
      const bare = deviceSeen({ receivedAt: T0 + 4 })
      const status = fold([position(at(T0)), ignition, bare, heartbeat(T0 + 1)])
      const telemetry = { receivedAt: T0 + 2, battery: 0.3, attributes: { ignition: true } }
      expect(telemetryOf(status)).toEqual(telemetry)
      const { battery, ...motion } = heartbeat(T0 + 5, { attributes: { motion: false } })
      expect(battery).toBe(0.3)
      const next = fold([position(at(T0)), ignition, motion])
      expect(telemetryOf(next)).toEqual({ receivedAt: T0 + 5, attributes: { motion: false } })
    })

    test('comes from a newer last position, or from later events', () => {
      const events = [position(at(T0)), heartbeat(T0 + 1), position(at(T0 + 2))]
      expect(telemetryOf(fold(events))).toBeUndefined()
      expect(telemetryOf(fold([...events, heartbeat(T0 + 3)]))).toMatchObject({
        receivedAt: T0 + 3,
      })
    })

    test('does not change with a late record', () => {
      const events = [position(at(T0)), heartbeat(T0 + 1)]
      const late = position({ timestamp: T0 - HOUR_MS, receivedAt: T0 + 2, battery: 0.1 })
      expect(telemetryOf(fold([...events, late]))).toEqual({ receivedAt: T0 + 1, battery: 0.3 })
    })

    test('does not change with an imported position, even the last one', () => {
      const history = position({ timestamp: T0 + 2, receivedAt: T0 + 9, imported: true })
      const events = [position(at(T0)), heartbeat(T0 + 1), history]
      expect(fold(events)).toMatchObject({ lastPosition: { imported: true } })
      expect(telemetryOf(fold(events))).toEqual({ receivedAt: T0 + 1, battery: 0.3 })
    })

    test('stays that of a heartbeat received after a position that waited in a spool', () => {
      // Received before the heartbeat, but waited in a spool.
      const events = [position(at(T0)), heartbeat(T0 + 5), position(at(T0 + 2))]
      expect(telemetryOf(fold(events))).toEqual({ receivedAt: T0 + 5, battery: 0.3 })
    })
  })

  test('the status does not depend on the order of reports, or of heartbeats after the first report', () => {
    const time = fc.integer({ min: 0, max: 5 }).map((step) => T0 + step * 1_000)
    const keyId = fc.constantFrom('key-1', 'key-2', 'key-3')
    const battery = fc.integer({ min: 0, max: 100 }).map((percent) => percent / 100)
    const sent = { receivedAt: time, keyId, battery }
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
        if (one.lastPosition.recordId === other.lastPosition.recordId) {
          expect(telemetryOf(one)).toEqual(telemetryOf(other))
        }
        // Among positions with equal times the offset decides, and reordering changes it.
        expect(timesOf(one)).toEqual(timesOf(other))
      }),
    )
  })
})

/** A heartbeat's offset depends on the order. */
function withoutPlaces({
  heartbeats = {},
  lastOrigin: _origin,
  lastPosition: _last,
  readings: _readings,
  ...status
}: DeviceStatus) {
  const newest = Object.values(heartbeats).map(({ offset: _offset, ...heartbeat }) => heartbeat)
  return { ...status, newest }
}

function repeatIn(status: DeviceStatus, offset: number, event: PositionReported): DeviceStatus {
  const entry = { origin: { partition: 0, offset }, event, kind: 'repeat' } as const
  return deviceStatus(status, entry)
}

function timesOf({ lastPosition: { timestamp, receivedAt } }: DeviceStatus) {
  return [Math.min(timestamp, receivedAt), receivedAt]
}
