import { REJECTIONS_KEPT_MS } from '../../schemas/events/report-rejected.ts'
import type { Outdated } from '../back-office.ts'
import { SESSION_LONGEST_MS, SESSION_IDLE_MS } from '../operators.ts'
import type { Document, Kind, OpenDocuments } from '../documents.ts'
import { INSTANCE_HOURS, INSTANCES, REJECTION_KIND, SESSIONS, SHARES, SPOOLS } from './kinds.ts'
import { GEOFENCES, RULES } from './definition-documents.ts'
import { DELIVERIES, SUBSCRIPTIONS } from './subscriptions.ts'
import { DELIVERIES_KEPT_MS } from '../../schemas/subscriptions/subscription.ts'

const HOUR_MS = 60 * 60 * 1_000
const DAY_MS = 24 * HOUR_MS

/** How long documents remain after the time that the index sorts them by. */
const KEPT = [
  createRemoval(SESSIONS, 'begun', SESSION_LONGEST_MS),
  createRemoval(SESSIONS, 'seen', SESSION_IDLE_MS),
  // Expired shares are listed for another week.
  createRemoval(SHARES, 'expires', 7 * DAY_MS),
  // Long enough for processes that follow the changes to see the deletion.
  createRemoval(GEOFENCES, 'deleted', DAY_MS),
  createRemoval(RULES, 'deleted', DAY_MS),
  createRemoval(SUBSCRIPTIONS, 'deleted', DAY_MS),
  createRemoval(DELIVERIES, 'sent', DELIVERIES_KEPT_MS),
  createRemoval(INSTANCES, 'reported', HOUR_MS),
  // A day later the hour is complete.
  createRemoval(INSTANCE_HOURS, 'hour', 25 * HOUR_MS),
  createRemoval(SPOOLS, 'reported', 30 * DAY_MS),
  createRemoval(REJECTION_KIND, 'received', REJECTIONS_KEPT_MS),
]

export function removalOfOutdated(open: OpenDocuments): Outdated {
  const removals = KEPT.map((removeFrom) => removeFrom(open))
  return {
    async removeOutdated(now) {
      for (const remove of removals) await remove(now)
    },
  }
}

function createRemoval<D extends Document>(kind: Kind<D>, index: string, keptMs: number) {
  return (open: OpenDocuments) => {
    const documents = open(kind)
    return (now: number) => documents.removeOlder({ index, than: now - keptMs })
  }
}
