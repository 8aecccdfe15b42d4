import { LRUCache } from 'lru-cache'
import { awaitFor, type Clock } from '../../runtime/clock.ts'
import { Slots } from '../../runtime/limits/slots.ts'
import { alarmKey, alarmNames } from '../../schemas/report/alarm-names.ts'
import type { ApiKey } from '../../store/keys.ts'
import type { Outcome, SubmittedHeartbeat, SubmittedReport } from '../accept/outcome.ts'
import { deviceKey } from '../../schemas/events/position-reported.ts'
import type { Devices } from '../../store/read-models.ts'
import type { RecentPositions } from '../accept/recent-positions.ts'
import type { Offered } from '../accept/rejections.ts'
import { receivedOf } from '../accept/rejected-content.ts'
import type { ReportMetrics } from '../accept/report-metrics.ts'

const TOLD_MS = 3_600_000
/**
 * Maximum number of devices and alarms remembered. Beyond that, one may be rejected twice in an
 * hour.
 */
const TOLD_KEPT = 20_000

/** Writes rejections for devices that report without ever having had a position. */
export type RejectUnplaced = (
  outcomes: readonly Outcome[],
  request: {
    readonly reports: readonly SubmittedReport[]
    readonly key: ApiKey
    readonly app: string
  },
) => Promise<readonly Offered[]>

/**
 * A heartbeat of a device that has never had a position changes nothing that operators see, and
 * causes no fact. So that it does not vanish, it also causes a rejection: one per device and hour,
 * and one for each new alarm immediately. An alarm leaves one too if the store does not say whether
 * the device is known.
 */
export function unplacedDevices({
  isKnown,
  positions,
  metrics,
  clock,
}: {
  readonly isKnown: IsKnownDevice
  readonly positions: Pick<RecentPositions, 'has'>
  readonly metrics: Pick<ReportMetrics, 'alsoRejected'>
  readonly clock: Clock
}): RejectUnplaced {
  const told = new LRUCache<string, true>({
    max: TOLD_KEPT,
    ttl: TOLD_MS,
    ttlResolution: 0,
    perf: clock,
  })

  return async (outcomes, { reports, key, app }) => {
    const heartbeats = reports.filter(
      (report, at): report is SubmittedHeartbeat =>
        'seen' in report && report.isOfTracker !== false && outcomes[at]?.kind === 'seen',
    )
    if (heartbeats.length === 0) return []
    const rejected = await Promise.all(heartbeats.map((heartbeat) => reject(heartbeat, key, app)))
    return rejected.filter((offered) => offered !== undefined)
  }

  async function reject(
    heartbeat: SubmittedHeartbeat,
    key: ApiKey,
    app: string,
  ): Promise<Offered | undefined> {
    const device = { accountId: key.accountId, deviceId: heartbeat.seen }
    const id = deviceKey(device)
    // Ids contain no line breaks.
    const idOfAlarm = (name: string) => `${id}\n${alarmKey(name)}`
    const areNew = (names: readonly string[]) => names.filter((name) => !told.has(idOfAlarm(name)))
    const sent = [...alarmNames(heartbeat.attributes?.['alarm']).values()]
    if (positions.has(device) || (told.has(id) && areNew(sent).length === 0)) return undefined
    const isPlaced = await isKnown(device)
    // Another request may have written a rejection for it in the meantime.
    const alarms = areNew(sent)
    if (isPlaced === true || (alarms.length === 0 && (isPlaced === undefined || told.has(id)))) {
      return undefined
    }
    const ids = [id, ...alarms.map(idOfAlarm)]
    for (const one of ids) told.set(one, true)
    const offered = metrics.alsoRejected({
      key,
      error: 'INVALID_PARAMS',
      message: `${app}: ${messageOf(heartbeat, alarms)}`,
      received: receivedOf(heartbeat),
      isAwaited: true,
    })
    const forget = () => ids.forEach((one) => told.delete(one))
    // The app will resend it.
    offered.written.then((isWritten) => isWritten || forget(), forget)
    return offered
  }
}

function messageOf({ lacks }: SubmittedHeartbeat, alarms: readonly string[]): string {
  const message = lacks ?? 'a device without a position so far has sent a message without one'
  if (alarms.length === 0) return message
  return `${message}, with the alarm ${alarms.join(', ')}`
}

/** How long an erased device may still count as known. */
const KNOWN_MS = 60_000
const KNOWN_KEPT = 10_000
/**
 * Meanwhile the request stays in flight. In embedded mode the other thread answers, and it may be
 * busy.
 */
const ANSWER_MS = 50
/** Maximum number of look-ups waiting for the store. */
const UNDER_WAY = { most: 64, mostEach: 16 }

/** Undefined if the store does not respond in time. */
type IsKnownDevice = (device: Parameters<typeof deviceKey>[0]) => Promise<boolean | undefined>

/**
 * Whether operators see a device because one of its positions was stored. Looked up only where a
 * message would otherwise vanish. Undefined if the store is slow, or still has other look-ups to
 * answer.
 */
export function knownDevices({
  devices,
}: {
  readonly devices: Pick<Devices, 'findDevice'>
}): IsKnownDevice {
  const known = new LRUCache<string, true>({ max: KNOWN_KEPT, ttl: KNOWN_MS })
  const underWay = new Slots(UNDER_WAY)
  return async ({ accountId, deviceId }) => {
    const id = deviceKey({ accountId, deviceId })
    if (known.has(id)) return true
    if (underWay.areTaken(accountId)) return undefined
    underWay.take(accountId)
    const asked = devices.findDevice({ accountId, deviceId })
    // Not released when its request stops waiting: the store has yet to answer.
    const end = () => underWay.giveBack(accountId)
    asked.then(end, end)
    try {
      const found = await awaitFor(ANSWER_MS, asked, deadlineError)
      if (found === undefined) return false
      known.set(id, true)
    } catch {
      return undefined
    }
    return true
  }
}

function deadlineError(): Error {
  return new Error('the store did not respond in time')
}
