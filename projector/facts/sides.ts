import type {
  GeofencesState,
  GeofenceStanding,
} from '../../schemas/definitions/definitions-state.ts'
import type { Geofence } from '../../schemas/definitions/geofence.ts'
import type { Area } from '../../schemas/geo/area.ts'
import { EDGE_METRES, hasEntered, hasLeft, type Fix } from '../../schemas/geo/area-sides.ts'
import type { Coordinates } from '../../schemas/geo/distance.ts'
import type { PreparedGeofence } from '../../schemas/geo/geofence-index.ts'
import type { GeofenceDefinitions } from './decider.ts'

type Standings = ReadonlyMap<string, GeofenceStanding>

/**
 * Maximum number of geofences that count at a position: first those that the device is in or about
 * to enter or leave, then the smallest.
 */
const MOST_COUNTED = 100
/**
 * For this long, other processes may be unaware of a change and judge devices without it.
 */
const SPREADING_MS = 30_000

function isWithin(areas: readonly Area[], fix: Fix): boolean {
  return areas.some((area) => area.contains(fix))
}

/** Undefined if the geofence was deleted or disabled, or does not apply to the device. */
export function definitionOf(
  id: string,
  { index, applies }: GeofenceDefinitions,
): PreparedGeofence | undefined {
  const known = index.get(id)
  return known !== undefined && applies(known.geofence) ? known : undefined
}

/**
 * Returns the time since which the geofence has applied to the device: a new label may have made it
 * match.
 */
export function findStartOfForce(
  { inForceSince, labels }: Geofence,
  { selectedSince }: GeofenceDefinitions,
): number {
  return labels === undefined ? inForceSince : Math.max(inForceSince, selectedSince)
}

/** When the latest change came into force, if other processes may not know of it yet. */
export function findNewestChange({ index, selectedSince }: GeofenceDefinitions): number {
  return Math.max(index.newest, selectedSince)
}

/** The geofences around the position that count, besides those with a standing. */
export function* selectCounting(
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

/**
 * Drops, without facts, the standings in geofences that were deleted, disabled or no longer apply
 * to the device, and the waits that started before their geofence changed.
 */
export function dropOtherGeofences(
  state: GeofencesState,
  definitions: GeofenceDefinitions,
): GeofencesState {
  let kept: Map<string, GeofenceStanding> | undefined
  for (const [id, standing] of Object.entries(state.standings)) {
    const still = updateStanding(id, standing, state.last, definitions)
    if (still === standing) continue
    kept ??= new Map(Object.entries(state.standings))
    if (still === undefined) kept.delete(id)
    else kept.set(id, still)
  }
  return kept === undefined ? state : { ...state, standings: Object.fromEntries(kept) }
}

function updateStanding(
  id: string,
  standing: GeofenceStanding,
  last: GeofencesState['last'],
  definitions: GeofenceDefinitions,
): GeofenceStanding | undefined {
  const known = definitionOf(id, definitions)
  if (known === undefined) return undefined
  const { side, since = null, wait } = standing
  const { enabledSince = 0 } = known.geofence
  // It was disabled after that, perhaps too briefly for anything to be judged in between.
  if (last !== undefined && last.receivedAt < enabledSince) {
    if (side === 'unknown') return isWithin(known.areas, last) ? standing : undefined
    if (!hasEntered(known.areas, last)) return undefined
    return since === null && wait === undefined ? standing : { side: 'inside', since: null }
  }
  const isOver =
    wait !== undefined && wait.receivedAt < findStartOfForce(known.geofence, definitions)
  if (!isOver) return standing
  return side === 'inside' ? { side, since } : undefined
}

/**
 * A device inside a geofence that came into force after its last position is inside it without a
 * fact.
 */
export function addAdopted(
  state: GeofencesState,
  definitions: GeofenceDefinitions,
): GeofencesState {
  const { last } = state
  if (last === undefined || !wasUnknown(findNewestChange(definitions), last)) return state
  const standings = new Map(Object.entries(state.standings))
  for (const { geofence, areas } of selectCounting(standings, last, definitions)) {
    if (!wasUnknown(findStartOfForce(geofence, definitions), last)) continue
    const isEntered = hasEntered(areas, last)
    if (!isEntered && wasOutside(areas, geofence, last, definitions)) continue
    const side = isEntered ? 'inside' : 'unknown'
    standings.set(geofence.id, { side, since: null })
  }
  const isSame = standings.size === Object.keys(state.standings).length
  return isSame ? state : { ...state, standings: Object.fromEntries(standings) }
}

/**
 * An inaccurate position, judged without the geofence by other processes, has not entered it if a
 * more accurate one was outside.
 */
function wasOutside(
  areas: readonly Area[],
  geofence: Geofence,
  { receivedAt, surer }: NonNullable<GeofencesState['last']>,
  definitions: GeofenceDefinitions,
): boolean {
  if (surer === undefined || receivedAt < findStartOfForce(geofence, definitions)) return false
  return hasLeft(areas, surer)
}

/**
 * A more accurate position than this one, if this one is inaccurate, while other processes may not
 * know of a new geofence.
 */
export function findSurerPosition(
  last: GeofencesState['last'],
  { accuracy = 0, receivedAt }: { readonly accuracy?: number; readonly receivedAt: number },
): NonNullable<GeofencesState['last']>['surer'] {
  if (last === undefined || accuracy <= EDGE_METRES) return undefined
  const { latitude, longitude, accuracy: before = 0 } = last
  const place = { latitude, longitude, accuracy: before, receivedAt: last.receivedAt }
  const surer = before < accuracy ? place : last.surer
  return surer !== undefined && receivedAt < surer.receivedAt + SPREADING_MS ? surer : undefined
}

/**
 * Whether some processes may not know of a definition that came into force at this time when a
 * position is received.
 */
export function isNewAt(receivedAt: number, inForceSince: number): boolean {
  return receivedAt < inForceSince + SPREADING_MS
}

/**
 * Whether the last position was received before a definition came into force, or was judged without
 * it by other processes.
 */
function wasUnknown(inForceSince: number, last: NonNullable<GeofencesState['last']>): boolean {
  const { receivedAt, knew = receivedAt - SPREADING_MS } = last
  return receivedAt < inForceSince || knew < inForceSince
}
