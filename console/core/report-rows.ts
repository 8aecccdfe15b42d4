import { addTotals, type ReportTotals } from '../../schemas/devices/report-totals.ts'
import type { components } from '../api/schema.ts'

export type ApiReport = components['schemas']['DeviceReport']

/** The ways to group reports into rows: display name, and the period each requires. */
export const GROUPINGS = [
  ['device', 'Device', undefined],
  ['label', 'Label', undefined],
  ['day', 'Day', 'day'],
  ['week', 'Week', 'week'],
  ['month', 'Month', 'month'],
  ['device-day', 'Device and day', 'day'],
] as const
export type Grouping = (typeof GROUPINGS)[number][0]

/** The totals of a device, of the devices with a label, or of all devices in a period. */
export type ReportRow = ReportTotals & {
  readonly key: string
  readonly name?: string
  readonly deviceId?: string
  readonly from: string
  readonly to: string
}

export function reportRows(
  reports: readonly ApiReport[],
  grouping: Grouping,
): readonly ReportRow[] {
  const rows = new Map<string, ReportRow>()
  for (const row of reports.flatMap((report) => partsOf(report, grouping))) {
    const before = rows.get(row.key)
    rows.set(row.key, before === undefined ? row : { ...row, ...addTotals(before, row) })
  }
  return [...rows.values()]
}

function partsOf(
  { deviceId, name, labels, periods = [], ...whole }: ApiReport,
  grouping: Grouping,
): readonly ReportRow[] {
  const device = { deviceId, name: name ?? deviceId }
  if (grouping === 'device') return [{ ...whole, ...device, key: deviceId }]
  if (grouping === 'label') {
    const some = labels.length > 0 ? labels : ['No label']
    return some.map((label) => ({ ...whole, name: label, key: label }))
  }
  return periods.map((period) =>
    grouping === 'device-day'
      ? { ...period, ...device, key: `${period.from} ${deviceId}` }
      : { ...period, key: period.from },
  )
}
