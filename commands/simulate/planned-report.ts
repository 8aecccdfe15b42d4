import type { TimedReport } from '../../client/client.ts'
import { isoTime } from '../../schemas/text/iso-8601.ts'
import { deviceState, movingDevice } from './moving-device.ts'
import type { TimedPoint } from './recorded-track.ts'

/** A report to send in order, no earlier than `dueMs` after the start. */
export type PlannedReport = { readonly dueMs: number; readonly report: TimedReport }

/** The reports of one device, in order. `count` is Infinity if only time ends the run. */
export type DevicePlan = {
  readonly deviceId: string
  readonly count: number
  readonly reports: Iterable<PlannedReport>
}

/**
 * Moving devices, each reporting `rate` times a second; their first reports are spread over the
 * first interval. Timestamps are as planned, so a delayed device catches up with its past
 * positions, as trackers do.
 */
export function movingDevices({
  devices,
  rate,
  count,
  prefix,
  seed,
  attributes,
  startedAt,
}: {
  devices: number
  rate: number
  count: number
  prefix: string
  seed: number
  attributes: boolean
  startedAt: number
}): DevicePlan[] {
  const intervalS = 1 / rate
  const digits = String(devices).length
  return Array.from({ length: devices }, (_, index) => {
    const deviceId = `${prefix}${String(index + 1).padStart(digits, '0')}`
    const firstMs = (index / devices) * intervalS * 1000
    function* reports(): Generator<PlannedReport> {
      const positions = movingDevice({ seed, index, intervalS })
      const stateAt = deviceState({ seed, index, intervalS, attributes })
      for (let sent = 0; sent < count; sent += 1) {
        const dueMs = firstMs + sent * intervalS * 1000
        const timestamp = isoTime(startedAt + dueMs)
        const position = positions.next().value
        const report = { deviceId, ...position, ...stateAt(position.speed), timestamp }
        yield { dueMs, report }
      }
    }
    return { deviceId, count, reports: { [Symbol.iterator]: reports } }
  })
}

/**
 * Turns a recorded track into the reports of one device. `speedup` divides the gaps between the
 * points; without it they are sent as fast as the service accepts them.
 */
export function replayTrack({
  deviceId,
  points,
  speedup,
}: {
  deviceId: string
  points: readonly TimedPoint[]
  speedup?: number
}): DevicePlan {
  const first = points[0]?.time ?? 0
  const reports = points.map(({ latitude, longitude, altitude, time }) => ({
    dueMs: speedup === undefined ? 0 : (time - first) / speedup,
    report: { deviceId, latitude, longitude, altitude, timestamp: isoTime(time) },
  }))
  return { deviceId, count: reports.length, reports }
}
