import type { StopFix, StopState } from '../../schemas/definitions/definitions-state.ts'
import { STOPPED } from '../../schemas/definitions/device-rule.ts'
import type { EarthPoint } from '../../schemas/geo/earth-point.ts'
import { LeapFilter } from '../../schemas/geo/leap-filter.ts'
import { StopWindow } from '../../schemas/geo/stop-window.ts'
import { tripRecord, type TripRecord } from '../../schemas/geo/open-trip.ts'
import { addToStop } from '../../schemas/geo/stop-place.ts'

/**
 * Five minutes of a device that reports once a second: up to this number, stops match those of
 * trips exactly. A device that reports ten times a second must not store thousands of positions in
 * its state. Beyond this number, a position is dropped if those before and after it are nearer to
 * each other than `KEPT_EVERY_MS`; the last one of a burst remains.
 */
const MOST_KEPT = 301
const KEPT_EVERY_MS = 5_000
/**
 * A device that stayed in one area for this long is still there, even if it sleeps or sends the
 * same position again.
 */
const LEAST_SEEN_MS = 60_000

export type StopVerdict = {
  readonly state: StopState
  /** Undefined for a jump, which the next position will explain. */
  readonly isStopped: boolean | undefined
  /** Positions of the stop: the first one; all of them once the stop is detected. */
  readonly fixes: readonly StopFix[]
}

/**
 * When the device counts as stopped if it sends nothing more, or only the same position; `null`:
 * never.
 */
export function stopDue({ last, window, leapt, stopped, repeatedAt }: StopState): number | null {
  const [first] = window
  if (stopped !== undefined || leapt !== undefined || first === undefined) return null
  const restedMs = last.at - first.at
  const isSeen = restedMs + (repeatedAt ?? last.receivedAt) - last.receivedAt >= LEAST_SEEN_MS
  return isSeen ? last.receivedAt + STOPPED.stopMs - restedMs : null
}

/** The state while nothing new has arrived. */
export function viewStop(state: StopState | undefined): Omit<StopVerdict, 'state'> | undefined {
  if (state === undefined) return undefined
  const { stopped, leapt } = state
  return {
    isStopped: leapt === undefined ? stopped !== undefined : undefined,
    fixes: stopped === undefined ? [] : [stopped.first],
  }
}

/** Until `now` the device has sent nothing more, or only the same position. */
export function continueStop(before: StopState, now: number, isRepeat: boolean): StopVerdict {
  let state: StopState = isRepeat ? { ...before, repeatedAt: now } : before
  const { last, leapt, repeatedAt } = state
  let { window } = state
  const due = stopDue(state)
  if (due !== null && due <= now) {
    const { left, middle } = searchWindow(window.map(locate), last.at + now - last.receivedAt)
    window = window.slice(left)
    state = { ...state, window }
    const [first] = window
    if (first !== undefined && middle !== undefined && stopDue(state) !== null) {
      state = { ...state, window: [], stopped: { first, middle } }
    }
  }
  const { stopped } = state
  const repeat =
    repeatedAt === undefined ? [] : [{ ...last, at: repeatedAt, receivedAt: repeatedAt }]
  return {
    state,
    isStopped: leapt === undefined ? stopped !== undefined : undefined,
    fixes: stopped === undefined ? [] : [stopped.first, ...window, last, ...repeat],
  }
}

/** Finds stops as trips do, position by position. */
export function judgeStop(
  before: StopState | undefined,
  fix: StopFix,
  hasSpeed: boolean,
): StopVerdict {
  const passed: LocatedFix[] = []
  const leaps = new LeapFilter<LocatedFix>((one) => passed.push(one))
  if (before !== undefined) {
    leaps.add(locate(before.last))
    if (before.leapt !== undefined) leaps.add(locate(before.leapt))
  }
  leaps.add(locate(fix))
  const taken = before === undefined ? passed : passed.slice(1)
  let state = before
  for (const one of taken) state = take(state, one)
  const leapt = leaps.held?.fix
  const { last, window, isThinned, stopped }: StopState = state ?? { last: fix, window: [fix] }
  return {
    state: {
      last,
      window,
      ...(isThinned && { isThinned }),
      ...(leapt !== undefined && { leapt }),
      ...(stopped !== undefined && { stopped }),
      ...(hasSpeed && { hasSpeed }),
    },
    isStopped: leapt === undefined ? stopped !== undefined : undefined,
    fixes: stopped === undefined ? [] : fixesOf(stopped.first, before, taken),
  }
}

function fixesOf(
  first: StopFix,
  before: StopState | undefined,
  taken: readonly LocatedFix[],
): readonly StopFix[] {
  if (before?.stopped?.first.at === first.at) return [first]
  const fixes = [...(before?.window ?? []), ...taken.map(({ fix }) => fix)]
  return fixes.filter(({ at }) => at >= first.at)
}

type LocatedFix = TripRecord & { readonly fix: StopFix }

function locate(fix: StopFix): LocatedFix {
  const { at: timestamp, latitude, longitude, accuracy = null } = fix
  const step = { timestamp, latitude, longitude, accuracy, speed: null }
  return { ...tripRecord(step, STOPPED.stopMetres), fix }
}

function take(state: StopState | undefined, record: LocatedFix): StopState {
  const { fix } = record
  if (state?.stopped !== undefined) {
    const { first, ...place } = state.stopped
    const stopped = addToStop(place, record, STOPPED)
    if (stopped !== undefined) return { last: fix, window: [], stopped: { first, ...stopped } }
    return { last: fix, window: [fix] }
  }
  const records = [...(state?.window ?? []).map(locate), record]
  const { left, middle } = searchWindow(records, record.timestamp)
  const [first] = records.slice(left)
  if (middle !== undefined && first !== undefined) {
    // As in trips, the stop settles by its records from this one on.
    const place = addToStop({ middle }, record, STOPPED) ?? { middle }
    return { last: fix, window: [], stopped: { first: first.fix, ...place } }
  }
  const window = records.slice(left).map((one) => one.fix)
  if (window.length > MOST_KEPT || (state?.isThinned === true && window.length > 2)) {
    return { last: fix, window: thin(window), isThinned: true }
  }
  return { last: fix, window }
}

function thin(window: readonly StopFix[]): StopFix[] {
  const kept: StopFix[] = []
  for (const fix of window) {
    const before = kept.at(-2)
    if (before !== undefined && fix.at - before.at < KEPT_EVERY_MS) kept.pop()
    kept.push(fix)
  }
  return kept
}

/** The number of records that have left the window, and the centre of a stop formed by the rest. */
function searchWindow(
  records: readonly LocatedFix[],
  until: number,
): {
  readonly left: number
  readonly middle?: EarthPoint
} {
  const window = new StopWindow()
  for (const record of records) window.add(record)
  while (window.isTooWide) window.shift()
  while (until - window.firstTime >= STOPPED.stopMs) {
    const outlierAt = window.outlierAt
    if (outlierAt === 0) return { left: window.start, middle: window.middle }
    for (let n = 0; n < outlierAt; n += 1) window.shift()
  }
  return { left: window.start }
}
