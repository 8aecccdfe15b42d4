import { setOffset } from '../../event-log/offsets.ts'
import type { DefinitionsState } from '../../schemas/definitions/definitions-state.ts'
import type { FactState } from '../../schemas/facts/fact-state.ts'
import { comparePositionTimes } from '../../schemas/geo/position-order.ts'
import type { PositionEntry } from '../../schemas/events/log-entry.ts'
import type { PositionReported } from '../../schemas/events/position-reported.ts'
import type { DeviceDefinitions } from './decider.ts'
import { isNewAt, findNewestChange, findSurerPosition } from './sides.ts'
import { nextLookAt, offlineDeadline } from './silence.ts'

/**
 * The state after the report of a device that is online, outside all geofences and without alarms:
 * the same as `decide` would return, at a fraction of its cost. Almost all reports are like this.
 * Undefined if the report must be judged.
 */
export function uneventful(
  state: FactState,
  { event, origin }: PositionEntry,
  by: DeviceDefinitions,
): FactState | undefined {
  const { sequence, applied, last, liveness, alarms, budget, definitions, erased } = state
  const { recordId, timestamp, receivedAt, attributes } = event
  if (liveness === undefined || last === undefined || definitions === undefined) return undefined
  if (liveness.offlineAt !== undefined || state.due !== liveness.due) return undefined
  let { due } = liveness
  if (due !== null && due <= receivedAt) {
    const deadline = offlineDeadline(liveness, by)
    if (deadline <= receivedAt) return undefined
    due = nextLookAt(deadline, receivedAt)
  }
  if (erased !== undefined || attributes?.['alarm'] !== undefined) return undefined
  const { standings, stop } = definitions.rules
  if (receivedAt <= liveness.seenAt || comparePositionTimes(event, last) <= 0) return undefined
  if (stop !== undefined || !isEmpty(standings)) return undefined
  if (!isElsewhere(definitions.geofences, event, by)) return undefined
  const { latitude, longitude, accuracy } = event
  const fix =
    accuracy === undefined
      ? { latitude, longitude, receivedAt }
      : { latitude, longitude, accuracy, receivedAt }
  const surer = findSurerPosition(definitions.geofences.last, fix)
  const next: FactState = {
    sequence,
    applied: setOffset(applied, origin),
    due,
    last: { recordId, timestamp, receivedAt, origin },
    liveness: { seenAt: receivedAt, due },
    definitions: {
      geofences: {
        last: surer === undefined ? fix : { ...fix, surer },
        standings: definitions.geofences.standings,
      },
      rules: { standings },
    },
  }
  // In this order: spreads after new fields cost a fraction of spreads before them.
  if (alarms === undefined) return budget === undefined ? next : { budget, ...next }
  return budget === undefined ? { alarms, ...next } : { alarms, budget, ...next }
}

/** Neither a rule nor a geofence applies to the device, before and now. */
function isElsewhere(
  { last, standings }: DefinitionsState['geofences'],
  place: PositionReported,
  { geofences, rules }: DeviceDefinitions,
): boolean {
  if (rules.length > 0 || !isEmpty(standings)) return false
  if (last !== undefined && isNewAt(last.receivedAt, findNewestChange(geofences))) return false
  return !geofences.index.hasAround(place)
}

function isEmpty(names: Readonly<Record<string, unknown>>): boolean {
  for (const name in names) return name === undefined
  return true
}
