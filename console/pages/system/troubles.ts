import type { components } from '../../api/schema.ts'
import type { ApiSubscription } from '../../core/notification-words.ts'
import { bytesText, countText, numberText } from '../../core/measures.ts'
import { duration } from '../../core/times.ts'

type System = components['schemas']['System']

/** A problem, and the remedy; `path`: the page of the console that shows more. */
export type Trouble = { readonly wrong: string; readonly todo: string; readonly path?: string }

const DAY_MS = 86_400_000
/** The data shown is older than this only if something is wrong. */
const LAG_SECONDS = 60
/** Same thresholds as the alerts GpsDiskFills and GpsBackupOld. */
const FREE_BYTES = 1e9
const BACKUP_MS = 2 * DAY_MS

/** Data older than this should have a backup; new users are not alarmed before. */
const NEW_MS = DAY_MS

/**
 * `now`: milliseconds since the epoch; `receivingSince`: when the oldest data was received, as ISO
 * text.
 */
type SystemMoment = { readonly now: number; readonly receivingSince: string | undefined }

/** Everything that is wrong with the service, the worst first. */
export function troublesOf(
  system: System,
  moment: SystemMoment,
  notifications: readonly Pick<ApiSubscription, 'id' | 'name' | 'state'>[] = [],
): readonly Trouble[] {
  const found = [
    findMissingIngestApi(system),
    findLag(system),
    findWaitingReports(system),
    findFullDisk(system),
    oldBackup(system, moment),
    findFactsLag(system),
    findFailingDevices(system),
    findHeldSilence(system),
    ...notifications.map(findFailingNotification),
    deadLetters(system),
    differentVersions(system),
    rejections(system),
  ]
  return found.filter((one) => one !== undefined)
}

function findMissingIngestApi({ instances }: System): Trouble | undefined {
  if (instances.some(({ service }) => service === 'ingest-api')) return undefined
  return {
    wrong: 'No ingest API has reported for 30 seconds: devices may not be able to report.',
    todo: 'Check that it runs, and read its log.',
  }
}

function findLag({ lag }: System): Trouble | undefined {
  if (lag === null) {
    return {
      wrong: 'No projector has reported for 30 seconds: new positions may not be shown.',
      todo: 'They are safe. Check that the projector runs, and read its log.',
    }
  }
  if (lag.seconds <= LAG_SECONDS) return undefined
  return {
    wrong: `The map is ${duration(lag.seconds * 1_000)} behind: ${countText(lag.events, 'accepted position')} waiting.`,
    todo: 'They are safe. Check that the projector and its store keep up.',
  }
}

/** Facts are judged after positions are projected, so this reports a lag only of judging itself. */
function findFactsLag({ factsLagSeconds, lag }: System): Trouble | undefined {
  const seconds = (factsLagSeconds ?? 0) - (lag?.seconds ?? 0)
  if (seconds <= LAG_SECONDS) return undefined
  return {
    wrong: `Events are found ${duration(seconds * 1_000)} later than positions are shown.`,
    todo: 'None is lost. Read the projector’s log.',
  }
}

function findFailingDevices({ failingDevices }: System): Trouble | undefined {
  if (failingDevices === null || failingDevices === 0) return undefined
  return {
    wrong: `No events could be found for ${countText(failingDevices, 'device')}.`,
    todo: 'Their positions are stored. The projector’s log names them and why; please report it as a fault.',
  }
}

/** Longer than it takes after a start, with the default FACTS_GRACE_SECONDS. */
const HELD_SECONDS = 900

function findHeldSilence({ silenceHeldSeconds }: System): Trouble | undefined {
  if (silenceHeldSeconds === null || silenceHeldSeconds <= HELD_SECONDS) return undefined
  return {
    wrong: `Silences have not been judged for ${duration(silenceHeldSeconds * 1_000)}: no device is found to be offline.`,
    todo: 'An ingest API is not ready or restarts again and again, or a spool is not empty: read their logs.',
  }
}

function findFailingNotification({
  id,
  name,
  state,
}: Pick<ApiSubscription, 'id' | 'name' | 'state'>): Trouble {
  return {
    wrong: `The notification \u2068${name}\u2069 is ${state}: its messages do not arrive.`,
    todo: 'See why, and what waits.',
    path: `/notifications/${id}`,
  }
}

function findWaitingReports({ spool }: System): Trouble | undefined {
  if (spool === null || spool.events === 0) return undefined
  return {
    wrong: `${countText(spool.events, 'accepted position')} waiting for Kafka, the oldest for ${duration(spool.oldestSeconds * 1_000)}.`,
    todo: 'They are safe. Check that Kafka runs.',
  }
}

function findFullDisk({ storage }: System): Trouble | undefined {
  if (storage === undefined || storage.freeBytes >= FREE_BYTES) return undefined
  return {
    wrong: `The disk has ${bytesText(storage.freeBytes)} left.`,
    todo: 'Once it is full, reports are rejected: free space, or move the data to a larger disk.',
  }
}

function oldBackup(
  { lastBackupAt }: System,
  { now, receivingSince }: SystemMoment,
): Trouble | undefined {
  if (lastBackupAt === undefined) return undefined
  if (lastBackupAt === null) {
    if (receivingSince === undefined || now - Date.parse(receivingSince) <= NEW_MS) return undefined
    return {
      wrong: 'No backup has been made yet.',
      todo: 'On the server, npm run backup makes one while the service runs.',
    }
  }
  const age = now - Date.parse(lastBackupAt)
  if (age <= BACKUP_MS) return undefined
  return {
    wrong: `The last backup is ${duration(age)} old.`,
    todo: 'Check the output of the last npm run backup.',
  }
}

function deadLetters({ deadLetters }: System): Trouble | undefined {
  if (deadLetters === null || deadLetters === 0) return undefined
  return {
    wrong: `${countText(deadLetters, 'event')} in the log could not be read.`,
    todo: 'On the server, npm run dead-letters -- list shows them and why.',
  }
}

function differentVersions({ instances }: System): Trouble | undefined {
  const versions = [...new Set(instances.map(({ version }) => version))].sort()
  if (versions.length < 2) return undefined
  return {
    wrong: `Processes run different versions: ${versions.join(', ')}.`,
    todo: 'Upgrade the older ones.',
  }
}

function rejections({ refusedPerMinute }: System): Trouble | undefined {
  if (refusedPerMinute === 0) return undefined
  return {
    wrong: `Reports are being rejected: ${refusedPerMinute < 1 ? 'fewer than 1' : numberText(refusedPerMinute)} per minute.`,
    todo: 'See why, and which devices sent them.',
    path: '/rejections',
  }
}
