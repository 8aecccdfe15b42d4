import { createFairYielder } from '../../runtime/end-of-turn.ts'
import { readPages } from '../../runtime/process/read-pages.ts'
import { addTotals, NO_TOTALS, type ReportTotals } from '../../schemas/devices/report-totals.ts'
import type { DeviceFact } from '../../schemas/facts/facts.ts'
import type { TimeSpan } from '../../schemas/geo/track-totals.ts'
import type { Store } from '../../store/store.ts'
import { isoTime } from '../http/views.ts'
import { addAt, groupDays, type PeriodUnit, type ReportDay } from './report-days.ts'
import type { TripTotalsOf } from './trip-totals.ts'

const FACTS_AT_ONCE = 500
const COUNTED = new Map<string, Partial<ReportTotals>>([
  ['rule.raised', { raised: 1 }],
  ['geofence.entered', { visits: 1 }],
])

/** A report as in the API's response. Empty periods are omitted. */
export type DeviceReport = ReportPeriod & {
  readonly deviceId: string
  readonly name: string | null
  readonly labels: readonly string[]
  readonly periods?: readonly ReportPeriod[]
}

export type ReportPeriod = ReportTotals & { readonly from: string; readonly to: string }

/** Yields these devices' reports one by one, skipping devices that no longer exist. */
export async function* readReports(
  query: {
    readonly accountId: string
    readonly deviceIds: readonly string[]
    readonly days: readonly ReportDay[]
    readonly range: TimeSpan
    readonly by: PeriodUnit | undefined
  },
  deps: {
    readonly store: Pick<Store, 'findDevice' | 'pageFacts'>
    readonly totalsOf: TripTotalsOf
    readonly isWanted: () => boolean
  },
): AsyncGenerator<readonly DeviceReport[], void> {
  const { accountId, days, range, by } = query
  const { store, totalsOf, isWanted } = deps
  const turnEnds = createFairYielder(accountId)
  for (const deviceId of query.deviceIds) {
    const device = await store.findDevice({ accountId, deviceId })
    if (device === undefined) continue
    const totals = new Map<number, ReportTotals>()
    for (const month of groupDays(days, 'month')) {
      if (!isWanted()) return
      const of = { accountId, deviceId, days: month, isWanted }
      for (const [day, sum] of await totalsOf(of)) totals.set(day, sum)
      await turnEnds()
    }
    const facts = readPages<DeviceFact>(FACTS_AT_ONCE, (page) =>
      store.pageFacts({ accountId, deviceId, ...range, ...page }),
    )
    for await (const some of facts) {
      for (const { type, at } of some) addAt(totals, days, at, COUNTED.get(type) ?? NO_TOTALS)
    }
    const periods = by && groupDays(days, by).flatMap((group) => periodOf(group, totals) ?? [])
    const { name, labels = [] } = device.settings
    const whole = { ...formatSpan(range), ...[...totals.values()].reduce(addTotals, NO_TOTALS) }
    yield [{ deviceId, name: name ?? null, labels, ...whole, ...(periods && { periods }) }]
  }
}

function periodOf(
  days: readonly ReportDay[],
  totals: ReadonlyMap<number, ReportTotals>,
): ReportPeriod | undefined {
  const known = days.flatMap(({ day }) => totals.get(day) ?? [])
  if (known.length === 0) return undefined
  const span = { from: days[0]?.from ?? 0, to: days.at(-1)?.to ?? 0 }
  return { ...formatSpan(span), ...known.reduce(addTotals) }
}

function formatSpan({ from, to }: TimeSpan) {
  return { from: isoTime(from), to: isoTime(to) }
}
