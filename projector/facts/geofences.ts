import type {
  GeofencesState,
  GeofenceStanding,
  StartedWait,
} from '../../schemas/definitions/definitions-state.ts'
import { pickGeofenceName, type Geofence } from '../../schemas/definitions/geofence.ts'
import { hasEntered, hasLeft, type Fix } from '../../schemas/geo/area-sides.ts'
import type { PreparedGeofence } from '../../schemas/geo/geofence-index.ts'
import { trueAt } from '../../schemas/geo/position-order.ts'
import {
  isMove,
  keepState,
  type Decision,
  type DeviceDefinitions,
  type FactInput,
  type GeofenceDefinitions,
  type Judged,
  type PositionInput,
  type Wait,
} from './decider.ts'
import type { FactState } from '../../schemas/facts/fact-state.ts'
import {
  selectCounting,
  definitionOf,
  findStartOfForce,
  isNewAt,
  findNewestChange,
  findSurerPosition,
  addAdopted,
} from './sides.ts'

/** The geofences that the device is in. */
export function listInside({ standings }: GeofencesState): string[] {
  return Object.keys(standings).filter((id) => standings[id]?.side === 'inside')
}

/** Whether the device is inside; undefined if unknown. */
export function isInside({ standings }: GeofencesState, id: string): boolean | undefined {
  const side = standings[id]?.side
  return side === 'unknown' ? undefined : side === 'inside'
}

/**
 * When the device entered a geofence that it is in; if unknown, since when the geofence has applied
 * to it.
 */
export function findInsideSince(
  { standings }: GeofencesState,
  id: string,
  definitions: GeofenceDefinitions,
): number | undefined {
  const standing = standings[id]
  const known = definitionOf(id, definitions)
  if (standing?.side !== 'inside' || known === undefined) return undefined
  return standing.since ?? findStartOfForce(known.geofence, definitions)
}

/**
 * The geofences that the device was in after each of these decisions, the last of which led to
 * `state`.
 */
export function listInsideAfterEach(
  state: GeofencesState,
  decisions: readonly Decision[],
): readonly (readonly string[])[] {
  let inside = listInside(state)
  const after: (readonly string[])[] = []
  for (const decision of [...decisions].reverse()) {
    after.unshift(inside)
    if (decision.type === 'geofence.entered') {
      inside = inside.filter((id) => id !== decision.geofence.id)
    } else if (decision.type === 'geofence.left') {
      inside = [...inside, decision.geofence.id]
    }
  }
  return after
}

/** The pending waits, except for geofences that were not in force when the input was `received`. */
export function* geofenceWaits(
  { standings }: GeofencesState,
  definitions: GeofenceDefinitions,
  received: number,
): Generator<Wait> {
  for (const id in standings) {
    const start = standings[id]?.wait
    if (start === undefined) continue
    const known = definitionOf(id, definitions)?.geofence
    if (known === undefined || received < findStartOfForce(known, definitions)) continue
    yield { of: 'geofence', id, start, seconds: known.confirmSeconds }
  }
}

/** The device has been on the new side for long enough. */
export function endGeofenceWait(
  state: GeofencesState,
  { id, start }: Wait,
  definitions: GeofenceDefinitions,
): Judged<GeofencesState> {
  const known = definitionOf(id, definitions)
  const standing = state.standings[id]
  if (known === undefined || standing === undefined) return keepState(state)
  const standings = { ...state.standings }
  if (standing.side === 'inside') {
    delete standings[id]
    const decisions = [decideLeft(known.geofence, start, standing.since ?? null)]
    return { state: { ...state, standings }, decisions }
  }
  standings[id] = { side: 'inside', since: start.at }
  return { state: { ...state, standings }, decisions: [decideEntered(known.geofence, start)] }
}

/**
 * Judges a position that follows the last one judged. A device leaves before it enters. A position
 * received before a geofence was in force decides nothing about it: the device then starts inside
 * or outside without a fact.
 */
export function judgeGeofences(
  state: FactState,
  input: FactInput,
  { geofences: by }: DeviceDefinitions,
): Judged {
  if (state.definitions === undefined || !isMove(input)) return keepState(state)
  const { rules } = state.definitions
  const { state: geofences, decisions } = judgePlace(state.definitions.geofences, input, by)
  return { state: { ...state, definitions: { geofences, rules } }, decisions }
}

function judgePlace(
  before: GeofencesState,
  { position, receivedAt }: PositionInput,
  definitions: GeofenceDefinitions,
): Judged<GeofencesState> {
  const start: StartedWait = { at: trueAt(position), receivedAt, position }
  const { latitude, longitude, accuracy } = position
  const fix: Fix = { latitude, longitude, ...(accuracy !== undefined && { accuracy }) }
  const isEarlier = ({ geofence }: PreparedGeofence) =>
    receivedAt < findStartOfForce(geofence, definitions)
  const waitFor = ({ confirmSeconds }: Geofence) => (confirmSeconds === 0 ? undefined : start)
  const { last, standings: own } = addAdopted(before, definitions)
  const newest = findNewestChange(definitions)
  // A minute later every process knows of it.
  const surer = findSurerPosition(last, { ...fix, receivedAt })
  const next = {
    ...fix,
    receivedAt,
    ...(isNewAt(receivedAt, newest) && { knew: newest }),
    ...(surer && { surer }),
  }
  const standings = new Map(Object.entries(own))
  const decisions: Decision[] = []

  for (const id of [...standings.keys()].sort()) {
    const [standing, known] = [standings.get(id), definitionOf(id, definitions)]
    if (standing === undefined || known === undefined) continue
    const { geofence } = known
    const still = isEarlier(known)
      ? judgeEarlierPosition(standing, known, fix)
      : nextStanding(standing, known, fix, waitFor(geofence))
    if (still !== undefined) standings.set(id, still)
    else {
      standings.delete(id)
      if (standing.side === 'inside' && !isEarlier(known)) {
        decisions.push(decideLeft(geofence, start, standing.since ?? null))
      }
    }
  }
  const entering: PreparedGeofence[] = []
  for (const known of selectCounting(standings, fix, definitions)) {
    if (hasEntered(known.areas, fix)) entering.push(known)
  }
  for (const known of entering.sort(compareIds)) {
    const { geofence, areas } = known
    const wait = waitFor(geofence)
    // It was inside before, without a standing: the geofence was not in force, or too many smaller
    // ones counted.
    if (isEarlier(known) || (last !== undefined && hasEntered(areas, last))) {
      standings.set(geofence.id, { side: 'inside', since: null })
    } else if (wait !== undefined) standings.set(geofence.id, { side: 'outside', wait })
    else {
      standings.set(geofence.id, { side: 'inside', since: start.at })
      decisions.push(decideEntered(geofence, start))
    }
  }
  return { state: { last: next, standings: Object.fromEntries(standings) }, decisions }
}

/** Returns the next standing; undefined if the device is outside. */
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

/**
 * After a position from before the geofence was in force: changes only what no fact has
 * established.
 */
function judgeEarlierPosition(
  standing: GeofenceStanding,
  { areas }: PreparedGeofence,
  fix: Fix,
): GeofenceStanding | undefined {
  const { side, since = null, wait } = standing
  if (side === 'outside' || since !== null || wait !== undefined) return standing
  return hasLeft(areas, fix) ? undefined : standing
}

function compareIds({ geofence: a }: PreparedGeofence, { geofence: b }: PreparedGeofence): number {
  return a.id < b.id ? -1 : 1
}

function decideEntered(geofence: Geofence, start: StartedWait): Decision {
  return { type: 'geofence.entered', geofence: pickGeofenceName(geofence), ...startOf(start) }
}

function decideLeft(geofence: Geofence, start: StartedWait, enteredAt: number | null): Decision {
  return {
    type: 'geofence.left',
    geofence: pickGeofenceName(geofence),
    enteredAt,
    seconds: enteredAt === null ? null : Math.max(0, start.at - enteredAt) / 1_000,
    ...startOf(start),
  }
}

function startOf({ at, position }: StartedWait) {
  return { at, ...(position !== undefined && { position }) }
}
