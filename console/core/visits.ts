import type { ApiFact } from './device-facts.ts'

/** A stay in a geofence, in milliseconds. */
export type Visit = {
  readonly geofenceId: string
  readonly name: string
  /** Undefined if the device was inside when the geofence came into force. */
  readonly from: number | undefined
  /** Undefined while the device is inside. */
  readonly to: number | undefined
}

/**
 * The stays that started or ended in a range, in order of time.
 * @param facts of one device, the latest first.
 */
export function pairVisits(facts: readonly ApiFact[]): readonly Visit[] {
  const left = new Set<string>()
  const visits = facts.flatMap(({ type, geofence, at, enteredAt }): Visit[] => {
    if (geofence === undefined) return []
    const { id: geofenceId, name } = geofence
    const ms = Date.parse(at)
    if (type === 'geofence.left') {
      left.add(geofenceId)
      return [{ geofenceId, name, from: enteredAt ? Date.parse(enteredAt) : undefined, to: ms }]
    }
    // The visit's end is already listed.
    if (left.delete(geofenceId)) return []
    return [{ geofenceId, name, from: ms, to: undefined }]
  })
  return visits.sort((a, b) => beginOf(a) - beginOf(b))
}

type Row = {
  readonly kind: string
  readonly from: number
  readonly to: number
  readonly place?: { readonly geofenceId?: string | undefined } | null
  /** Ends at which the visit extends beyond the range. */
  readonly open?: 'before' | 'after' | 'both' | null
}

/** A visit as long as its stop adds nothing new. */
const SAME_MS = 60_000

/**
 * Each visit with the stop that takes up most of it, unless it says the same as the stop, and
 * visits without a stop, where the device only drove through.
 */
export function foldVisits<R extends Row>(
  rows: readonly R[],
  visits: readonly Visit[],
): { readonly at: ReadonlyMap<R, readonly Visit[]>; readonly others: readonly Visit[] } {
  const at = new Map<R, readonly Visit[]>()
  const others: Visit[] = []
  for (const visit of visits) {
    let best: R | undefined
    let longest = 0
    for (const row of rows) {
      if (row.kind !== 'stop' && row.kind !== 'walks') continue
      const ms =
        Math.min(row.to, visit.to ?? Infinity) - Math.max(row.from, visit.from ?? -Infinity)
      if (ms > longest) [best, longest] = [row, ms]
    }
    if (best === undefined) others.push(visit)
    else if (!isSaid(visit, best)) at.set(best, [...(at.get(best) ?? []), visit])
  }
  return { at, others }
}

/** Whether the visit is to the stop's own place and covers the whole stop. */
function isSaid({ geofenceId, from, to }: Visit, stop: Row): boolean {
  const isBeyond = stop.open === 'after' || stop.open === 'both'
  // The facts of the range lack the end of a visit that ends after it.
  const end = to ?? (isBeyond ? stop.to : undefined)
  if (from === undefined || end === undefined || stop.place?.geofenceId !== geofenceId) return false
  return Math.max(Math.abs(from - stop.from), Math.abs(end - stop.to)) <= SAME_MS
}

/** A time at which a visit is known to be in progress. */
export function beginOf({ from, to }: Visit): number {
  return from ?? to ?? 0
}
