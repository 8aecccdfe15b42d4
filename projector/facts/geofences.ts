import type {
  GeofencesState,
  GeofenceStanding,
  StartedWait,
} from '../../schemas/definitions-state.ts'
import { namedGeofence, type Geofence } from '../../schemas/geofence.ts'
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

type Standings = Readonly<Record<string, GeofenceStanding>>
type Judged = { readonly state: GeofencesState; readonly decisions: readonly Decision[] }

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

/** Drops, without facts, the standings in geofences that were deleted, disabled or are no longer about the device. */
export function withoutOthers(
  state: GeofencesState,
  definitions: GeofenceDefinitions,
): GeofencesState {
  const gone = Object.keys(state.standings).filter(
    (id) => definitionOf(id, definitions) === undefined,
  )
  return gone.length === 0 ? state : { ...state, standings: without(state.standings, gone) }
}

/** The wait that ends first; the device has been on the new side for `confirmSeconds` then. */
export function nextEnd(
  { standings }: GeofencesState,
  definitions: GeofenceDefinitions,
  clock: WaitClock,
): EndOfWait | undefined {
  let first: EndOfWait | undefined
  for (const [id, { wait }] of Object.entries(standings)) {
    if (wait === undefined) continue
    const { confirmSeconds = 0 } = definitionOf(id, definitions)?.geofence ?? {}
    const end = wait[clock] + confirmSeconds * 1_000
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
    const standings = without(state.standings, [id])
    return { state: { ...state, standings }, decisions: [left(known.geofence, wait, since)], wait }
  }
  const standings = { ...state.standings, [id]: { side: 'inside', since: wait.at } as const }
  return { state: { ...state, standings }, decisions: [entered(known.geofence, wait)], wait }
}

/** Judges a position that follows the last one judged. It leaves before it enters. */
export function judgePlace(
  state: GeofencesState,
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
  let standings = withAdopted(state, definitions)
  const lefts: Decision[] = []
  const enters: Decision[] = []
  for (const known of concerned(standings, fix, definitions)) {
    const { geofence, areas } = known
    const { id, confirmSeconds } = geofence
    const standing = standings[id]
    const wait = confirmSeconds === 0 ? undefined : start
    if (standing === undefined || (standing.side === 'outside' && standing.wait === undefined)) {
      if (!hasEntered(areas, fix)) continue
      // It was inside before the geofence was in force, and is judged only now.
      const isEarlier = state.last !== undefined && receivedAt < inForceSince(geofence, definitions)
      if (!isEarlier && wait !== undefined) {
        standings = { ...standings, [id]: { side: 'outside', wait } }
        continue
      }
      standings = { ...standings, [id]: { side: 'inside', since: isEarlier ? null : start.at } }
      if (!isEarlier) enters.push(entered(geofence, start))
      continue
    }
    switch (standing.side) {
      case 'outside':
        if (hasLeft(areas, fix)) standings = without(standings, [id])
        break
      case 'unknown':
        if (hasLeft(areas, fix)) standings = without(standings, [id])
        else if (hasEntered(areas, fix)) {
          standings = { ...standings, [id]: { side: 'inside', since: null } }
        }
        break
      case 'inside': {
        const { since = null } = standing
        if (standing.wait !== undefined) {
          if (hasEntered(areas, fix)) standings = { ...standings, [id]: { side: 'inside', since } }
        } else if (hasLeft(areas, fix)) {
          if (wait !== undefined) {
            standings = { ...standings, [id]: { side: 'inside', since, wait } }
          } else {
            standings = without(standings, [id])
            lefts.push(left(geofence, start, since))
          }
        }
      }
    }
  }
  return { state: { last: { ...fix, receivedAt }, standings }, decisions: [...lefts, ...enters] }
}

/** Devices inside a geofence that came into force after their last position are inside it, without a fact. */
function withAdopted(
  { last, standings }: GeofencesState,
  definitions: GeofenceDefinitions,
): Standings {
  const { index, applies, selectedSince } = definitions
  const isNew = (since: number) => isNewSince(Math.max(since, selectedSince), last)
  if (last === undefined || !isNew(index.newest)) return standings
  let adopted = standings
  for (const { geofence, areas } of index.around(last)) {
    const { id, inForceSince } = geofence
    if (adopted[id] !== undefined || !isNew(inForceSince) || !applies(geofence)) continue
    if (!isWithin(areas, last)) continue
    const side = hasEntered(areas, last) ? 'inside' : 'unknown'
    adopted = { ...adopted, [id]: { side, since: null } }
  }
  return adopted
}

/** Whether a definition that came into force at this time may not have been known when the last position was judged. */
export function isNewSince(inForceSince: number, last: GeofencesState['last']): boolean {
  return last !== undefined && last.receivedAt < inForceSince + SPREADING_MS
}

/** The geofences around the place, and those with a standing, by their ids. */
function concerned(
  standings: Standings,
  fix: Fix,
  definitions: GeofenceDefinitions,
): readonly PreparedGeofence[] {
  const { index, applies } = definitions
  const found = new Map<string, PreparedGeofence>()
  for (const one of index.around(fix)) if (applies(one.geofence)) found.set(one.geofence.id, one)
  for (const id of Object.keys(standings)) {
    const known = definitionOf(id, definitions)
    if (known !== undefined) found.set(id, known)
  }
  return found.size < 2
    ? [...found.values()]
    : [...found.values()].sort((a, b) => (a.geofence.id < b.geofence.id ? -1 : 1))
}

function definitionOf(
  id: string,
  { index, applies }: GeofenceDefinitions,
): PreparedGeofence | undefined {
  const known = index.get(id)
  return known !== undefined && applies(known.geofence) ? known : undefined
}

function inForceSince({ inForceSince }: Geofence, { selectedSince }: GeofenceDefinitions): number {
  return Math.max(inForceSince, selectedSince)
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

function without(standings: Standings, ids: readonly string[]): Standings {
  return Object.fromEntries(Object.entries(standings).filter(([id]) => !ids.includes(id)))
}
