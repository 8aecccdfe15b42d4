import { objectOf, type JsonSchema } from '../../runtime/openapi/json-schema.ts'
import { telemetryOf } from '../../schemas/devices/device-readings.ts'
import { liveness, type Device } from '../../schemas/devices/read-models.ts'
import { isoTime, POSITION, positionView, TELEMETRY, telemetryView, TIME } from '../http/views.ts'
import { LABELS } from './label-rules.ts'
import { STANDINGS } from './standings.ts'

/** Formats a device's status for the API, as of `now`. */
export function deviceView(device: Device, now: number) {
  const { status, settings } = device
  const { expectedIntervalSeconds } = settings
  const telemetry = telemetryOf(status)
  return {
    deviceId: status.deviceId,
    name: settings.name ?? null,
    status: liveness(device, now),
    lastSeenAt: isoTime(status.lastSeenAt),
    firstSeenAt: isoTime(status.firstSeenAt),
    reportCount: status.reportCount,
    disabled: settings.disabled,
    ...(expectedIntervalSeconds !== undefined && { expectedIntervalSeconds }),
    labels: settings.labels ?? [],
    ...(status.lastKeyId !== '' && { lastKeyId: status.lastKeyId }),
    lastPosition: positionView(status.lastPosition),
    ...(telemetry !== undefined && { telemetry: telemetryView(telemetry) }),
  }
}

const FIELDS = {
  deviceId: { type: 'string' },
  name: { type: ['string', 'null'] },
  status: { enum: ['online', 'idle', 'offline'] },
  lastSeenAt: {
    ...TIME,
    description:
      'The newest receipt of its records, their repeats and heartbeats; imported ones count by their timestamp',
  },
  firstSeenAt: TIME,
  reportCount: { type: 'integer', description: 'Stored records, each once' },
  disabled: { type: 'boolean', description: 'Its reports are rejected' },
  expectedIntervalSeconds: { type: 'number' },
  labels: LABELS,
  lastKeyId: {
    type: 'string',
    description:
      'The key that its newest report, or heartbeat, was sent with; absent if all were imported',
  },
  lastPosition: POSITION,
  telemetry: TELEMETRY,
  inside: STANDINGS.inside,
  raised: STANDINGS.raised,
}

const OPTIONAL = ['expectedIntervalSeconds', 'lastKeyId', 'telemetry', 'inside', 'raised']

export const DEVICE: JsonSchema = objectOf(FIELDS, { title: 'Device', optional: OPTIONAL })

/** A device in a list, which may be of a past time. */
export const LISTED_DEVICE: JsonSchema = objectOf(FIELDS, {
  title: 'ListedDevice',
  description:
    'With `at`, a device that had not reported by then has no `lastPosition` and no `lastSeenAt`',
  optional: [...OPTIONAL, 'lastPosition', 'lastSeenAt'],
})
