import { expect } from '@jest/globals'

type Totals = {
  readonly trips: number
  readonly stops: number
  readonly distanceMetres: number
  readonly drivingSeconds: number
  readonly maxSpeed: number | null
  readonly firstStart: string | null
  readonly lastEnd: string | null
}

export type Report = Totals & {
  readonly deviceId?: string
  readonly from?: string
  readonly to?: string
  readonly periods?: readonly Totals[]
}

type Item = Readonly<Record<string, unknown>>

/** A device's report, computed from its list of trips: each counts where it begins. */
export function reportOfTrips(
  items: readonly Item[],
  { from, to, zone, by }: { from: string; to: string; zone: string; by?: string | undefined },
): Report {
  const begun = items.filter((item) => String(item['from']) >= from && String(item['from']) < to)
  const groups = new Map<string, Item[]>()
  for (const item of begun) {
    const name = periodOf(localDate(String(item['from']), zone), by)
    groups.set(name, [...(groups.get(name) ?? []), item])
  }
  const whole = { from, to, ...totalsOf(begun) }
  return by === undefined ? whole : { ...whole, periods: [...groups.values()].map(totalsOf) }
}

/** `2026-03-29`, from the browser's own calendar. */
function localDate(time: string, timeZone: string): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone }).format(new Date(time))
}

function periodOf(date: string, by: string | undefined): string {
  if (by === 'month') return date.slice(0, 7)
  if (by === 'day') return date
  const day = new Date(date)
  while (day.getUTCDay() !== 1) day.setUTCDate(day.getUTCDate() - 1)
  return day.toISOString()
}

function totalsOf(items: readonly Item[]): Totals {
  const trips = items.filter(({ kind }) => kind === 'trip')
  const sum = (of: (trip: Item) => number) => trips.map(of).reduce((a, b) => a + b, 0)
  const texts = (name: string) => trips.map((trip) => String(trip[name])).sort()
  const speeds = trips.flatMap(({ maxSpeed }) => (typeof maxSpeed === 'number' ? maxSpeed : []))
  return {
    trips: trips.length,
    stops: items.length - trips.length,
    distanceMetres: near(sum(({ distanceMetres }) => Number(distanceMetres))),
    drivingSeconds: sum(
      (trip) => (Date.parse(String(trip['to'])) - Date.parse(String(trip['from']))) / 1_000,
    ),
    maxSpeed: speeds.length === 0 ? null : Math.max(...speeds),
    firstStart: texts('from')[0] ?? null,
    lastEnd: texts('to').at(-1) ?? null,
  }
}

/** Sums of other parts in another order differ by rounding. */
function near(metres: number): number {
  return expect.closeTo(metres, 4) as unknown as number
}
