import { csvLines } from './csv-lines.ts'
import { connectionText, motionText } from './device-words.ts'
import { labelOf, newestTelemetry, type LiveDevice, type ShownStatus } from './live-device.ts'
import { batteryText, countText, METRIC, type Units } from './measures.ts'
import { ago, duration } from './times.ts'

export type ColumnId =
  | 'name'
  | 'id'
  | 'status'
  | 'seen'
  | 'motion'
  | 'position'
  | 'battery'
  | 'labels'
  | 'reports'
  | 'first'

/** The current time and the units of a row's texts. */
type TextContext = { readonly now: number; readonly units?: Units }

/** A column that the list can show and sort by. */
export type DeviceColumn = {
  readonly id: ColumnId
  readonly title: string
  /** The column's field name in the API. */
  readonly field: string
  readonly compare: (a: LiveDevice, b: LiveDevice) => number
  /** Whether a device has no value; such devices come last in either direction. */
  readonly isMissing?: (device: LiveDevice) => boolean
  /** Whether the column is initially sorted in descending order. */
  readonly isDescending?: true
  /** The value as text for people; undefined if unknown. */
  readonly text: (device: LiveDevice, context: TextContext) => string | undefined
  /** The value for CSV files: SI units, times in ISO 8601. */
  readonly value: (device: LiveDevice) => string | number | undefined
}

/** Numbers in names are compared by value. */
export const byName = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })
const ORDER: Readonly<Record<ShownStatus, number>> = { online: 0, idle: 1, offline: 2, disabled: 3 }
const labelsText = ({ labels }: LiveDevice) => labels.join(', ')
const iso = (ms: number) => new Date(ms).toISOString()

const compareNumbers = (of: (device: LiveDevice) => number | undefined) => ({
  compare: (a: LiveDevice, b: LiveDevice) => (of(a) ?? 0) - (of(b) ?? 0),
  isMissing: (device: LiveDevice) => of(device) === undefined,
})

export const COLUMNS: readonly DeviceColumn[] = [
  {
    id: 'name',
    title: 'Name',
    field: 'name',
    compare: (a, b) => byName.compare(labelOf(a), labelOf(b)),
    text: labelOf,
    value: ({ name }) => name ?? undefined,
  },
  {
    id: 'id',
    title: 'Id',
    field: 'deviceId',
    compare: (a, b) => byName.compare(a.deviceId, b.deviceId),
    text: ({ deviceId }) => deviceId,
    value: ({ deviceId }) => deviceId,
  },
  {
    id: 'status',
    title: 'Status',
    field: 'status',
    compare: (a, b) => ORDER[a.status] - ORDER[b.status],
    text: (device, { now }) => connectionText(device, now),
    value: ({ status }) => status,
  },
  {
    id: 'seen',
    title: 'Last seen',
    field: 'lastSeenAt',
    isDescending: true,
    compare: (a, b) => a.lastSeenMs - b.lastSeenMs,
    text: ({ lastSeenMs }, { now }) => `seen ${ago(lastSeenMs, now)}`,
    value: ({ lastSeenMs }) => iso(lastSeenMs),
  },
  {
    id: 'motion',
    title: 'Speed',
    field: 'speed',
    isDescending: true,
    ...compareNumbers(({ motion }) => motion.speed),
    text: (device, { now, units }) => motionText(device, now, units),
    value: ({ motion }) => motion.speed,
  },
  {
    id: 'position',
    title: 'Position age',
    field: 'timestamp',
    isDescending: true,
    compare: (a, b) => a.motion.atMs - b.motion.atMs,
    text: ({ motion }, { now }) => `position ${duration(now - motion.atMs)} old`,
    value: ({ position }) => position.timestamp,
  },
  {
    id: 'battery',
    title: 'Battery',
    field: 'battery',
    ...compareNumbers((device) => newestTelemetry(device).battery),
    text: (device) => batteryText(newestTelemetry(device).battery),
    value: (device) => newestTelemetry(device).battery,
  },
  {
    id: 'labels',
    title: 'Labels',
    field: 'labels',
    compare: (a, b) => byName.compare(labelsText(a), labelsText(b)),
    isMissing: ({ labels }) => labels.length === 0,
    text: (device) => labelsText(device) || undefined,
    value: labelsText,
  },
  {
    id: 'reports',
    title: 'Reports',
    field: 'reportCount',
    isDescending: true,
    compare: (a, b) => a.reportCount - b.reportCount,
    text: ({ reportCount }, { units = METRIC }) => countText(reportCount, 'report', units),
    value: ({ reportCount }) => reportCount,
  },
  {
    id: 'first',
    title: 'First seen',
    field: 'firstSeenAt',
    compare: (a, b) => (a.firstSeenAt < b.firstSeenAt ? -1 : a.firstSeenAt > b.firstSeenAt ? 1 : 0),
    text: ({ firstSeenAt }, { now }) => `first seen ${ago(Date.parse(firstSeenAt), now)}`,
    value: ({ firstSeenAt }) => firstSeenAt,
  },
]

/**
 * Devices as a CSV file (RFC 4180), one per line, in SI units and ISO 8601, with the API's field
 * names.
 */
export function devicesCsv(
  devices: readonly LiveDevice[],
  placeOf: (device: LiveDevice) => string | undefined,
): string {
  const head = [...COLUMNS.map(({ field }) => field), 'latitude', 'longitude', 'place']
  const rows = devices.map((device) => [
    ...COLUMNS.map(({ value }) => value(device)),
    device.position.latitude,
    device.position.longitude,
    placeOf(device),
  ])
  return csvLines([head, ...rows])
}
