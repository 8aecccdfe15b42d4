import type { EventLog } from '../../event-log/event-log.ts'
import type { Clock } from '../../runtime/clock.ts'
import { tellFaults } from '../../runtime/errors.ts'
import { unavailable } from '../../runtime/http.ts'
import { within } from '../../runtime/within.ts'
import { isDeviceSeen, type AppendedEvent } from '../../schemas/appended-event.ts'
import { parsePositionReport, type PositionReport } from '../../schemas/position-report.ts'
import type { PositionReported } from '../../schemas/position-reported.ts'
import { recordIdFor } from '../../schemas/record-id.ts'
import type { ApiKey, KeyGrant } from '../../store/back-office.ts'
import type { Allowance } from './allowance.ts'
import { beyondDeviceLimit, type DeviceLimit } from './device-limit.ts'
import type { GivenPosition, GivenReport } from './given-report.ts'
import { judgeHeartbeat, withoutRepeats } from './heartbeats.ts'
import { beyondKeyLimit, type KeyLimit } from './key-limit.ts'
import type { Outcome, Refused } from './outcome.ts'
import type { Received } from './rejected-content.ts'
import { deviceRefusal } from './reportable-devices.ts'
import type { Tally } from './tally.ts'

export type { GivenPosition, GivenReport }

/** The outcomes in the order of the reports, and what is left of the limits. */
export type Accepted = {
  readonly outcomes: readonly Outcome[]
  /** Absent if nothing was counted: there is no limit, or only one report. */
  readonly keyAllowance?: Allowance | undefined
  /** Of a report that came alone. */
  readonly deviceAllowance?: Allowance | undefined
}

/**
 * Validates each report and appends the valid ones in one call; an `accepted` report is durable, and
 * so is a heartbeat that is `seen`. The caller has already counted the first report against the key's
 * limit; this counts the others and refuses those beyond it. Each device with a valid report counts
 * once against its own limit.
 * @throws {ApiError | DependencyError} if the log has not acknowledged the events within `withinMs`.
 * They may or may not have been written, so no report has an outcome.
 */
export type Accept = (
  grant: KeyGrant,
  reports: readonly GivenReport[],
  options: { readonly withinMs: number },
) => Promise<Accepted>

type Judged =
  | { readonly kind: 'good'; readonly event: AppendedEvent }
  | { readonly kind: 'refused'; readonly refused: Refused }

export function acceptReports({
  eventLog,
  keyLimit,
  deviceLimit,
  tally,
  clock,
}: {
  eventLog: Pick<EventLog, 'append'>
  keyLimit: KeyLimit
  deviceLimit: DeviceLimit
  tally: Tally
  clock: Clock
}): Accept {
  return async function accept(grant, given, { withinMs }) {
    const fewer = given.length > 1 ? withoutRepeats(given) : undefined
    const reports = fewer?.reports ?? given
    const receivedAt = clock.now()
    const { key } = grant
    const keyAllowance =
      reports.length > 1 ? await keyLimit.take(key, reports.length - 1) : undefined
    const fitting = reports.length - (keyAllowance?.over ?? 0)
    const judged = reports.map((report, index) =>
      index < fitting || keyAllowance === undefined
        ? judge(report, grant, receivedAt)
        : limited(keyAllowance, beyondKeyLimit),
    )
    const devices = await limitDevices(judged, key)
    const events = judged.flatMap((found) => (found.kind === 'good' ? [found.event] : []))
    try {
      if (events.length > 0) await within(withinMs, eventLog.append(events), tooLate)
    } catch (error) {
      tally.failed(error, { reports: reports.length })
      throw error
    }
    let heartbeats = 0
    const judgedOutcomes = judged.map((found, index): Outcome => {
      if (found.kind === 'good') {
        if (!isDeviceSeen(found.event)) {
          return { kind: 'accepted', recordId: found.event.recordId, receivedAt }
        }
        heartbeats += 1
        return { kind: 'seen' }
      }
      const { error, message } = found.refused
      tally.refused({ key, error, message, received: received(reports[index]) })
      return { kind: 'refused', ...found.refused }
    })
    tally.accepted(events.length - heartbeats)
    tally.seen(heartbeats)
    const outcomes = fewer?.places.map((place) => judgedOutcomes[place]!) ?? judgedOutcomes
    const [deviceAllowance] = reports.length === 1 ? devices.values() : []
    return { outcomes, keyAllowance, deviceAllowance }
  }

  /** Counts the devices of the good reports, and refuses in `judged` those beyond their limit. */
  async function limitDevices(judged: Judged[], { accountId }: ApiKey) {
    const deviceIds = new Set<string>()
    for (const found of judged) if (found.kind === 'good') deviceIds.add(found.event.deviceId)
    const devices = await deviceLimit.take(accountId, deviceIds)
    judged.forEach((found, index) => {
      if (found.kind !== 'good') return
      const device = devices.get(found.event.deviceId)
      if (device?.exceeded) judged[index] = limited(device, beyondDeviceLimit)
    })
    return devices
  }
}

function judge(given: GivenReport, grant: KeyGrant, receivedAt: number): Judged {
  if ('seen' in given) {
    const event = judgeHeartbeat(given, grant, receivedAt)
    return 'error' in event ? { kind: 'refused', refused: event } : { kind: 'good', event }
  }
  const { json, idempotencyKey, faults: others = [] } = given
  const parsed = parsePositionReport(json, { now: receivedAt })
  if ('faults' in parsed || others.length > 0) {
    const faults = 'faults' in parsed ? [...parsed.faults, ...others] : others
    const refused = { error: 'INVALID_PARAMS', ...tellFaults(faults), retriable: false } as const
    return { kind: 'refused', refused }
  }
  const { report } = parsed
  const refused = deviceRefusal(grant, report.deviceId)
  if (refused !== undefined) return { kind: 'refused', refused }
  const { key } = grant
  return { kind: 'good', event: positionReported(report, { key, idempotencyKey, receivedAt }) }
}

/** What a rejection shows of a report. */
function received(given: GivenReport | undefined): Received {
  if (given === undefined || !('seen' in given)) return given ?? {}
  const { seen: deviceId, ...rest } = given
  return { json: { deviceId }, ...rest }
}

function limited(allowance: Allowance, tell: (allowance: Allowance) => string): Judged {
  const { resetSeconds: retryAfterSeconds } = allowance
  const message = tell(allowance)
  const refused = { error: 'RATE_LIMITED', message, retriable: true, retryAfterSeconds } as const
  return { kind: 'refused', refused }
}

function positionReported(
  { timestamp, ...report }: PositionReport,
  {
    key,
    idempotencyKey,
    receivedAt,
  }: { key: ApiKey; idempotencyKey: string | undefined; receivedAt: number },
): PositionReported {
  const { accountId } = key
  const identified = timestamp === undefined ? report : { ...report, timestamp }
  return {
    recordId: recordIdFor(identified, { accountId, idempotencyKey, receivedAt }),
    accountId,
    keyId: key.id,
    ...report,
    timestamp: timestamp ?? receivedAt,
    timestampSource: timestamp === undefined ? 'server' : 'device',
    receivedAt,
  }
}

function tooLate(): Error {
  return unavailable('the report could not be written in time, please send it again')
}
