import type { StopFix, StopState } from '../../schemas/definitions-state.ts'
import { STOPPED } from '../../schemas/device-rule.ts'
import type { EarthPoint } from '../../schemas/geo/earth-point.ts'
import { LeapFilter } from '../../schemas/geo/leap-filter.ts'
import { StopWindow } from '../../schemas/geo/stop-window.ts'
import { metresApart, tripRecord, type TripRecord } from '../../schemas/geo/trip-record.ts'

/**
 * A position is forgotten if those before and after it are nearer to each other than this: a device that reports ten
 * times a second must not have thousands in its state. The last one of a burst remains.
 */
const KEPT_EVERY_MS = 5_000

/** Finds stops as trips do, position by position. Undefined: a leap, which the next position will explain. */
export function judgeStop(
  before: StopState | undefined,
  fix: StopFix,
): { readonly state: StopState; readonly isStopped: boolean | undefined } {
  const passed: LocatedFix[] = []
  const leaps = new LeapFilter<LocatedFix>((one) => passed.push(one))
  if (before !== undefined) {
    leaps.add(located(before.last))
    if (before.leapt !== undefined) leaps.add(located(before.leapt))
  }
  leaps.add(located(fix))
  const taken = before === undefined ? passed : passed.slice(1)
  let state = before
  for (const one of taken) state = take(state, one)
  const leapt = leaps.held?.fix
  const { last, window, stopped }: StopState = state ?? { last: fix, window: [fix] }
  return {
    state: {
      last,
      window,
      ...(leapt !== undefined && { leapt }),
      ...(stopped !== undefined && { stopped }),
    },
    isStopped: leapt === undefined ? stopped !== undefined : undefined,
  }
}

type LocatedFix = TripRecord & { readonly fix: StopFix }

function located(fix: StopFix): LocatedFix {
  const { at: timestamp, latitude, longitude, accuracy = null } = fix
  const step = { timestamp, latitude, longitude, accuracy, speed: null }
  return { ...tripRecord(step, STOPPED.stopMetres), fix }
}

function take(state: StopState | undefined, record: LocatedFix): StopState {
  const { fix } = record
  if (state?.stopped !== undefined) {
    const { stopped } = state
    if (metresApart(stopped.middle, record.place) <= record.radius)
      return { last: fix, window: [], stopped }
    return { last: fix, window: [fix] }
  }
  const records = [...(state?.window ?? []).map(located), record]
  const { left, middle } = searched(records)
  const [first] = records.slice(left)
  if (middle !== undefined && first !== undefined) {
    return { last: fix, window: [], stopped: { first: first.fix, middle } }
  }
  const window = records.slice(left).map((one) => one.fix)
  const before = window.at(-3)
  if (before === undefined || fix.at - before.at >= KEPT_EVERY_MS) return { last: fix, window }
  return { last: fix, window: [...window.slice(0, -2), fix] }
}

/** The number of records that have left the window, and the middle of a stop that the others are. */
function searched(records: readonly LocatedFix[]): {
  readonly left: number
  readonly middle?: EarthPoint
} {
  const window = new StopWindow()
  for (const record of records) window.add(record)
  const { timestamp } = records.at(-1) ?? { timestamp: NaN }
  while (window.isTooWide) window.shift()
  while (timestamp - window.firstTime >= STOPPED.stopMs) {
    const outlierAt = window.outlierAt
    if (outlierAt === 0) return { left: window.start, middle: window.middle }
    for (let n = 0; n < outlierAt; n += 1) window.shift()
  }
  return { left: window.start }
}
