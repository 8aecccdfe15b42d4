import { createFairYielder } from '../../runtime/end-of-turn.ts'
import { readPages } from '../../runtime/process/read-pages.ts'
import type { DeviceFact, FactType } from '../../schemas/facts/facts.ts'
import type { TimeSpan } from '../../schemas/geo/track-totals.ts'
import type { Store } from '../../store/store.ts'
import { groupDays, spanOf, type PeriodUnit, type ReportDay } from './report-days.ts'
import { addTotals, NO_TOTALS, TotalsByDay, type ReportTotals } from './report-totals.ts'
import type { TripTotalsOfDays } from './trip-totals.ts'

const DEVICES_AT_ONCE = 250
const FACTS_AT_ONCE = 500

/** A device's totals of the whole range, and of the parts in which something happened. */
export type DeviceReport = {
  readonly deviceId: string
  readonly name: string | null
  readonly labels: readonly string[]
  readonly whole: ReportPeriod
  /** Absent if none were asked for. */
  readonly periods?: readonly ReportPeriod[] | undefined
}

export type ReportPeriod = TimeSpan & ReportTotals

type ReportQuery = {
  readonly accountId: string
  readonly deviceIds: readonly string[]
  readonly days: readonly ReportDay[]
  readonly range: TimeSpan
  readonly by: PeriodUnit | undefined
}

type Deps = {
  readonly store: Pick<Store, 'erasuresOf' | 'findDevices' | 'retentionDays' | 'pageFacts'>
  readonly tripTotals: TripTotalsOfDays
  readonly isWanted: () => boolean
}

/** The reports of devices, in this order, one by one; those erased in the meantime are left out. */
export async function* readReports(
  { deviceIds, ...query }: ReportQuery,
  { store, tripTotals, isWanted }: Deps,
): AsyncGenerator<readonly DeviceReport[], void> {
  const { accountId, days, range, by } = query
  const months = groupDays(days, 'month')
  const turnEnds = createFairYielder(accountId)
  for (let at = 0; at < deviceIds.length; at += DEVICES_AT_ONCE) {
    const some = deviceIds.slice(at, at + DEVICES_AT_ONCE)
    // Before anything that they may change.
    const erasures = await store.erasuresOf({ accountId, deviceIds: some })
    const retentionDays = await store.retentionDays()
    const devices = await store.findDevices({ accountId, deviceIds: some })
    const byId = new Map(devices.map((device) => [device.status.deviceId, device]))
    for (const deviceId of some) {
      const device = byId.get(deviceId)
      if (device === undefined) continue
      const erasedAt = erasures.get(deviceId)?.erasedAt
      const totals = new TotalsByDay(days)
      for (const month of months) {
        if (!isWanted()) return
        const known = { accountId, deviceId, days: month, erasedAt, retentionDays }
        const trips = await tripTotals.of(known, isWanted)
        for (const [day, sum] of trips) totals.addAt(month[day]?.from ?? 0, sum)
        await turnEnds()
      }
      await addFacts(totals, { accountId, deviceId, ...range }, store)
      const { name, labels = [] } = device.settings
      const periods = by && periodsOf(totals, days, by)
      yield [
        { deviceId, name: name ?? null, labels, whole: { ...range, ...sumOf(totals) }, periods },
      ]
    }
  }
}

const COUNTED: Partial<Record<FactType, Partial<ReportTotals>>> = {
  'rule.raised': { raised: 1 },
  'geofence.entered': { visits: 1 },
}

async function addFacts(
  totals: TotalsByDay,
  query: TimeSpan & { readonly accountId: string; readonly deviceId: string },
  store: Pick<Store, 'pageFacts'>,
): Promise<void> {
  const pages = readPages<DeviceFact>(FACTS_AT_ONCE, (page) =>
    store.pageFacts({ ...query, ...page }),
  )
  for await (const facts of pages) {
    for (const { type, at } of facts) {
      const counted = COUNTED[type]
      if (counted !== undefined) totals.addAt(at, { ...NO_TOTALS, ...counted })
    }
  }
}

function periodsOf(
  { days: totals }: TotalsByDay,
  days: readonly ReportDay[],
  by: PeriodUnit,
): readonly ReportPeriod[] {
  let first = 0
  return groupDays(days, by).flatMap((group) => {
    const known = group.flatMap((_, n) => totals.get(first + n) ?? [])
    first += group.length
    return known.length === 0 ? [] : [{ ...spanOf(group), ...known.reduce(addTotals) }]
  })
}

function sumOf({ days }: TotalsByDay): ReportTotals {
  return [...days.values()].reduce(addTotals, NO_TOTALS)
}
