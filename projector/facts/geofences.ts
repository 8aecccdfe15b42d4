import type {
  GeofencesState,
  GeofenceStanding,
  StartedWait,
} from '../../schemas/definitions/definitions-state.ts'
import type { Coordinates } from '../../schemas/geo/distance.ts'
import { namedGeofence, type Geofence } from '../../schemas/definitions/geofence.ts'
import type { GeofenceIndex, PreparedGeofence } from '../../schemas/geo/geofence-index.ts'
import type { Decision, PositionInput } from './part.ts'
import { hasEntered, hasLeft, isWithin, type Fix } from './sides.ts'

/** The geofences of an account as one device is judged by them. */
export type GeofenceDefinitions = {
  readonly index: GeofenceIndex
  readonly applies: (geofence: Geofence) => boolean
  /** When the device's labels last changed. */
  readonly selectedSince: number
}

/** The clock by which a wait ends: the timestamps of positions, or the receipt of the first of them. */
export type WaitClock = 'at' | 'receivedAt'

export type EndOfWait = { readonly id: string; readonly end: number }

export const NO_GEOFENCES: GeofencesState = { standings: {} }

type Standings = ReadonlyMap<string, GeofenceStanding>
type Judged = { readonly state: GeofencesState; readonly decisions: readonly Decision[] }

/** How many geofences around a place count: the smallest, after those that the device is in or waits for. */
const MOST_COUNTED = 100
/** Other processes may not know a change for this long: what a device did meanwhile was judged without it. */
const SPREADING_MS = 30_000

/** The geofences that the device is in. */
export function insideOf({ standings }: GeofencesState): string[] {
  return Object.keys(standings).filter((id) => standings[id]?.side === 'inside')
}

/** When the device entered a geofence that it is in; if that is unknown, since when the geofence has applied to it. */
export function insideSince(
  { standings }: GeofencesState,
  id: string,
  definitions: GeofenceDefinitions,
): number | undefined {
  const standing = standings[id]
  const known = definitionOf(id, definitions)
  if (standing?.side !== 'inside' || known === undefined) return undefined
  return standing.since ?? inForceSince(known.geofence, definitions)
}

/**
 * Drops, without facts, the standings in geofences that were deleted, disabled or are no longer about the device,
 * and the waits that began before a change of theirs.
 */
export function withoutOthers(
  state: GeofencesState,
  definitions: GeofenceDefinitions,
): GeofencesState {
  let kept: Map<string, GeofenceStanding> | undefined
  for (const [id, standing] of Object.entries(state.standings)) {
    const still = standingNow(id, standing, state.last, definitions)
    if (still === standing) continue
    kept ??= new Map(Object.entries(state.standings))
    if (still === undefined) kept.delete(id)
    else kept.set(id, still)
  }
  return kept === undefined ? state : { ...state, standings: Object.fromEntries(kept) }
}

function standingNow(
  id: string,
  standing: GeofenceStanding,
  last: GeofencesState['last'],
  definitions: GeofenceDefinitions,
): GeofenceStanding | undefined {
  const known = definitionOf(id, definitions)
  if (known === undefined) return undefined
  const { side, since = null, wait } = standing
  const { enabledSince = 0 } = known.geofence
  // It was disabled after that, perhaps too briefly for anything to be judged meanwhile.
  if (last !== undefined && last.receivedAt < enabledSince) {
    if (side === 'unknown') return isWithin(known.areas, last) ? standing : undefined
    if (!hasEntered(known.areas, last)) return undefined
    return since === null && wait === undefined ? standing : { side: 'inside', since: null }
  }
  const isOver = wait !== undefined && wait.receivedAt < inForceSince(known.geofence, definitions)
  if (!isOver) return standing
  return side === 'inside' ? { side, since } : undefined
}

/**
 * The wait that ends first; the device has been on the new side for `confirmSeconds` then. What was `received` before
 * a geofence was in force ends no wait of it.
 */
export function nextEnd(
  { standings }: GeofencesState,
  definitions: GeofenceDefinitions,
  clock: WaitClock,
  received = Infinity,
): EndOfWait | undefined {
  let first: EndOfWait | undefined
  for (const [id, { wait }] of Object.entries(standings)) {
    if (wait === undefined) continue
    const known = definitionOf(id, definitions)?.geofence
    if (known !== undefined && received < inForceSince(known, definitions)) continue
    const end = wait[clock] + (known?.confirmSeconds ?? 0) * 1_000
    if (first === undefined || end < first.end || (end === first.end && id < first.id)) {
      first = { id, end }
    }
  }
  return first
}

export function endWait(
  state: GeofencesState,
  { id }: EndOfWait,
  definitions: GeofenceDefinitions,
): Judged & { readonly wait: StartedWait | undefined } {
  const standing = state.standings[id]
  const known = definitionOf(id, definitions)
  if (standing?.wait === undefined || known === undefined) {
    return { state, decisions: [], wait: undefined }
  }
  const { side, wait, since = null } = standing
  if (side === 'inside') {
    const kept = Object.entries(state.standings).filter(([one]) => one !== id)
    const standings = Object.fromEntries(kept)
    return { state: { ...state, standings }, decisions: [left(known.geofence, wait, since)], wait }
  }
  const standings = { ...state.standings, [id]: { side: 'inside', since: wait.at } as const }
  return { state: { ...state, standings }, decisions: [entered(known.geofence, wait)], wait }
}

/**
 * Judges a position that follows the last one judged. It leaves before it enters. What was received before a geofence
 * was in force decides nothing by it: the device is then in it, or no longer, without a fact.
 */
export function judgePlace(
  before: GeofencesState,
  { position, receivedAt }: PositionInput,
  definitions: GeofenceDefinitions,
): Judged {
  const start: StartedWait = {
    at: Math.min(position.timestamp, position.receivedAt),
    receivedAt,
    position,
  }
  const { latitude, longitude, accuracy } = position
  const fix: Fix = { latitude, longitude, ...(accuracy !== undefined && { accuracy }) }
  const isEarlier = ({ geofence }: PreparedGeofence) =>
    receivedAt < inForceSince(geofence, definitions)
  const waitFor = ({ confirmSeconds }: Geofence) => (confirmSeconds === 0 ? undefined : start)
  const { last, standings: own } = withAdopted(before, definitions)
  const standings = new Map(Object.entries(own))
  const decisions: Decision[] = []

  for (const id of [...standings.keys()].sort()) {
    const [standing, known] = [standings.get(id), definitionOf(id, definitions)]
    if (standing === undefined || known === undefined) continue
    const { geofence } = known
    const next = isEarlier(known)
      ? standingBefore(standing, known, fix)
      : nextStanding(standing, known, fix, waitFor(geofence))
    if (next !== undefined) standings.set(id, next)
    else {
      standings.delete(id)
      if (standing.side === 'inside' && !isEarlier(known)) {
        decisions.push(left(geofence, start, standing.since ?? null))
      }
    }
  }
  const entering: PreparedGeofence[] = []
  for (const known of counting(standings, fix, definitions)) {
    if (hasEntered(known.areas, fix)) entering.push(known)
  }
  for (const known of entering.sort(byId)) {
    const { geofence, areas } = known
    const wait = waitFor(geofence)
    // It was inside before: the geofence was not in force, or too many smaller ones counted.
    if (isEarlier(known) || (last !== undefined && hasEntered(areas, last))) {
      standings.set(geofence.id, { side: 'inside', since: null })
    } else if (wait !== undefined) standings.set(geofence.id, { side: 'outside', wait })
    else {
      standings.set(geofence.id, { side: 'inside', since: start.at })
      decisions.push(entered(geofence, start))
    }
  }
  const newest = newestOf(definitions)
  return {
    state: {
      // A minute later every process knows it.
      last: { ...fix, receivedAt, ...(isNewSince(newest, { receivedAt }) && { knew: newest }) },
      standings: Object.fromEntries(standings),
    },
    decisions,
  }
}

/** Undefined: the device is outside. */
function nextStanding(
  standing: GeofenceStanding,
  { areas }: PreparedGeofence,
  fix: Fix,
  wait: StartedWait | undefined,
): GeofenceStanding | undefined {
  const { side, since = null } = standing
  switch (side) {
    case 'outside':
      return standing.wait === undefined || hasLeft(areas, fix) ? undefined : standing
    case 'unknown':
      if (hasLeft(areas, fix)) return undefined
      return hasEntered(areas, fix) ? { side: 'inside', since: null } : standing
    case 'inside':
      if (standing.wait !== undefined) {
        return hasEntered(areas, fix) ? { side, since } : standing
      }
      if (!hasLeft(areas, fix)) return standing
      return wait === undefined ? undefined : { side, since, wait }
  }
}

/** After a place from before the geofence was in force: only what is not known from a fact changes. */
function standingBefore(
  standing: GeofenceStanding,
  { areas }: PreparedGeofence,
  fix: Fix,
): GeofenceStanding | undefined {
  const { side, since = null, wait } = standing
  if (side === 'outside' || since !== null || wait !== undefined) return standing
  return hasLeft(areas, fix) ? undefined : standing
}

/** Devices inside a geofence that came into force after their last position are inside it, without a fact. */
export function withAdopted(
  state: GeofencesState,
  definitions: GeofenceDefinitions,
): GeofencesState {
  const { last } = state
  if (last === undefined || !wasUnknown(newestOf(definitions), last)) return state
  const standings = new Map(Object.entries(state.standings))
  for (const { geofence, areas } of counting(standings, last, definitions)) {
    if (!wasUnknown(inForceSince(geofence, definitions), last)) continue
    const side = hasEntered(areas, last) ? 'inside' : 'unknown'
    standings.set(geofence.id, { side, since: null })
  }
  const isSame = standings.size === Object.keys(state.standings).length
  return isSame ? state : { ...state, standings: Object.fromEntries(standings) }
}

/** Whether a definition that came into force at this time may not have been known when the last position was judged. */
export function isNewSince(
  inForceSince: number,
  last: { readonly receivedAt: number } | undefined,
): boolean {
  return last !== undefined && last.receivedAt < inForceSince + SPREADING_MS
}

/** The same, more exactly: it was received earlier, or judged by definitions without this one. */
function wasUnknown(inForceSince: number, last: NonNullable<GeofencesState['last']>): boolean {
  const { receivedAt, knew = receivedAt - SPREADING_MS } = last
  return receivedAt < inForceSince || knew < inForceSince
}

/** The geofences around the place that count, beside those with a standing. */
function* counting(
  standings: Standings,
  place: Coordinates,
  { index, applies }: GeofenceDefinitions,
): Generator<PreparedGeofence, void> {
  let room = MOST_COUNTED - standings.size
  if (room <= 0) return
  for (const one of index.around(place)) {
    if (standings.has(one.geofence.id) || !applies(one.geofence)) continue
    if (!isWithin(one.areas, place)) continue
    yield one
    room -= 1
    if (room === 0) return
  }
}

function definitionOf(
  id: string,
  { index, applies }: GeofenceDefinitions,
): PreparedGeofence | undefined {
  const known = index.get(id)
  return known !== undefined && applies(known.geofence) ? known : undefined
}

/** Since when the geofence has applied to the device: a new label may have made it fit. */
function inForceSince(
  { inForceSince, labels }: Geofence,
  { selectedSince }: GeofenceDefinitions,
): number {
  return labels === undefined ? inForceSince : Math.max(inForceSince, selectedSince)
}

function newestOf({ index, selectedSince }: GeofenceDefinitions): number {
  return Math.max(index.newest, selectedSince)
}

function byId({ geofence: a }: PreparedGeofence, { geofence: b }: PreparedGeofence): number {
  return a.id < b.id ? -1 : 1
}

function entered(geofence: Geofence, start: StartedWait): Decision {
  return { type: 'geofence.entered', geofence: namedGeofence(geofence), ...began(start) }
}

function left(geofence: Geofence, start: StartedWait, enteredAt: number | null): Decision {
  return {
    type: 'geofence.left',
    geofence: namedGeofence(geofence),
    enteredAt,
    seconds: enteredAt === null ? null : Math.max(0, start.at - enteredAt) / 1_000,
    ...began(start),
  }
}

function began({ at, position }: StartedWait) {
  return { at, ...(position !== undefined && { position }) }
}
