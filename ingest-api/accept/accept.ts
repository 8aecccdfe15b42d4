import type { EventLog } from '../../event-log/event-log.ts'
import { awaitUntil, type Clock } from '../../runtime/clock.ts'
import { mapInTurns, yieldFairly } from '../../runtime/end-of-turn.ts'
import { unavailable } from '../../runtime/errors.ts'
import { isDeviceSeen, type AppendedEvent } from '../../schemas/events/appended-event.ts'
import type { ApiKey, KeyGrant } from '../../store/keys.ts'
import { judgeReport, type JudgedReport } from './judge-report.ts'
import {
  describeDeviceLimit,
  describeKeyLimit,
  type Allowance,
  type DeviceLimit,
  type KeyLimit,
} from './limits.ts'
import type {
  Outcome,
  PositionOutcome,
  SubmittedHeartbeat,
  SubmittedPosition,
  SubmittedReport,
} from './outcome.ts'
import { receivedOf } from './rejected-content.ts'
import type { RecentPositions } from './recent-positions.ts'
import type { Offered } from './rejections.ts'
import type { CountedRequest, ReportMetrics } from './report-metrics.ts'

/** The outcomes in the order of the reports, and the remaining allowances. */
export type Accepted<Each = Outcome> = {
  readonly outcomes: readonly Each[]
  /** Absent if nothing was counted, because there is no limit or only one report. */
  readonly keyAllowance?: Allowance | undefined
  /** Only for a single report. */
  readonly deviceAllowance?: Allowance | undefined
  /** The reports' rejections. An app gets its response only after they are written. */
  readonly rejections: ReadonlySet<Offered>
}

/**
 * Validates each report and appends the valid ones in one call, in the order of `sortForAppend`; an
 * `accepted` report and a `seen` heartbeat are durable. The caller has already counted the first
 * report against the key's limit; this counts the rest and rejects reports beyond it. Each device
 * with a valid report counts once against its own limit.
 * @throws {ApiError | DependencyError} if the log has not acknowledged the events by the request's
 * deadline. They may or may not have been written, so no report has an outcome.
 */
export type Accept = {
  (
    grant: KeyGrant,
    positions: readonly SubmittedPosition[],
    request: AcceptedRequest,
  ): Promise<Accepted<PositionOutcome>>
  (
    grant: KeyGrant,
    reports: readonly SubmittedReport[],
    request: AcceptedRequest,
  ): Promise<Accepted>
}

/**
 * The request that sent the reports. An app resends its whole request until no report in it needs a
 * retry. So for an app the caller has counted all reports against the key's limit, rejections are
 * written immediately, and a report refused by a limit causes none, because it will be resent.
 */
export type AcceptedRequest = CountedRequest & {
  /** On the clock of `performance.now()`. */
  readonly deadline: number
}

/**
 * Larger requests are judged in slices, one per event-loop turn, and their slices are appended one
 * after the other, so that other requests are served in between.
 */
const FEW_REPORTS = 100
const APPENDED_AT_ONCE = 500

export function acceptReports({
  eventLog,
  keyLimit,
  deviceLimit,
  metrics,
  positions,
  clock,
}: {
  eventLog: Pick<EventLog, 'append'>
  keyLimit: KeyLimit
  deviceLimit: DeviceLimit
  metrics: ReportMetrics
  /** Notified of accepted reports. */
  positions?: Pick<RecentPositions, 'note'>
  clock: Clock
}): Accept {
  async function accept(
    grant: KeyGrant,
    submitted: readonly SubmittedReport[],
    request: AcceptedRequest,
  ): Promise<Accepted> {
    const distinct = submitted.length > 1 ? dropRepeats(submitted) : undefined
    const reports = distinct?.reports ?? submitted
    const receivedAt = clock.now()
    const { key } = grant
    const { app, deadline } = request
    const keyAllowance =
      app === undefined && reports.length > 1
        ? await keyLimit.take(key, reports.length - 1)
        : undefined
    const fitting = reports.length - (keyAllowance?.over ?? 0)
    const judgeAt = (report: SubmittedReport, index: number) =>
      index < fitting || keyAllowance === undefined
        ? judgeReport(report, grant, receivedAt)
        : refuseByLimit(keyAllowance, describeKeyLimit)
    const areFew = reports.length <= FEW_REPORTS
    const judged = areFew ? reports.map(judgeAt) : await mapInTurns(reports, judgeAt)
    const devices = await limitDevices(judged, key)
    const events = sortForAppend(
      judged.flatMap((verdict) => (verdict.kind === 'good' ? [verdict.event] : [])),
    )
    try {
      if (events.length > 0) {
        const appended = areFew ? eventLog.append(events) : appendInTurns(events, deadline)
        await awaitUntil(deadline, appended, deadlineError)
      }
    } catch (error) {
      metrics.failed(error, request, reports.length)
      throw error
    }
    request.isCounted = true
    let heartbeats = 0
    const rejections = new Set<Offered>()
    const judgedOutcomes = judged.map((verdict, index): Outcome => {
      if (verdict.kind === 'good') {
        if (!isDeviceSeen(verdict.event)) {
          positions?.note(verdict.event)
          return { kind: 'accepted', recordId: verdict.event.recordId, receivedAt }
        }
        heartbeats += 1
        return { kind: 'seen' }
      }
      const { error, message } = verdict.refused
      if (app !== undefined && error === 'RATE_LIMITED') metrics.postponed(error, app)
      else {
        const refusal = { key, error, message, received: receivedOf(reports[index]) }
        rejections.add(metrics.refused({ ...refusal, isAwaited: app !== undefined }, app))
      }
      return { kind: 'refused', ...verdict.refused }
    })
    metrics.accepted(events.length - heartbeats, app)
    metrics.seen(heartbeats, app)
    const outcomes = distinct?.places.map((place) => judgedOutcomes[place]!) ?? judgedOutcomes
    const [deviceAllowance] = reports.length === 1 ? devices.values() : []
    return { outcomes, keyAllowance, deviceAllowance, rejections }
  }
  // Only a heartbeat is `seen`.
  return accept as Accept

  async function appendInTurns(events: readonly AppendedEvent[], deadline: number): Promise<void> {
    for (let from = 0; from < events.length; from += APPENDED_AT_ONCE) {
      await yieldFairly()
      if (performance.now() > deadline) throw deadlineError()
      await eventLog.append(events.slice(from, from + APPENDED_AT_ONCE))
    }
    await yieldFairly()
  }

  /**
   * Counts the devices of the valid reports, and in `judged` rejects reports beyond their limit.
   */
  async function limitDevices(judged: JudgedReport[], { accountId }: ApiKey) {
    const deviceIds = new Set<string>()
    for (const verdict of judged) if (verdict.kind === 'good') deviceIds.add(verdict.event.deviceId)
    const devices = await deviceLimit.take(accountId, deviceIds)
    judged.forEach((verdict, index) => {
      if (verdict.kind !== 'good') return
      const device = devices.get(verdict.event.deviceId)
      if (device?.exceeded) judged[index] = refuseByLimit(device, describeDeviceLimit)
    })
    return devices
  }
}

/**
 * Keeps one heartbeat per device and alarm: the last, or the last with telemetry. Returns the
 * remaining reports, and for each submitted report its index among them. Undefined if all are
 * needed.
 */
function dropRepeats(
  submitted: readonly SubmittedReport[],
):
  { readonly reports: readonly SubmittedReport[]; readonly places: readonly number[] } | undefined {
  const reports: SubmittedReport[] = []
  const heartbeats = new Map<string, number>()
  const places = submitted.map((report) => {
    // Ids contain no line breaks.
    const id = 'seen' in report ? `${report.seen}\n${report.attributes?.['alarm'] ?? ''}` : ''
    const known = 'seen' in report ? heartbeats.get(id) : undefined
    if (known !== undefined) {
      if ('seen' in report && hasTelemetry(report)) reports[known] = report
      return known
    }
    if ('seen' in report) heartbeats.set(id, reports.length)
    return reports.push(report) - 1
  })
  return reports.length === submitted.length ? undefined : { reports, places }
}

function hasTelemetry({ battery, attributes }: SubmittedHeartbeat): boolean {
  return battery !== undefined || attributes !== undefined
}

function refuseByLimit(
  allowance: Allowance,
  messageFor: (allowance: Allowance) => string,
): JudgedReport {
  const { resetSeconds: retryAfterSeconds } = allowance
  const message = messageFor(allowance)
  const refused = { error: 'RATE_LIMITED', message, retriable: true, retryAfterSeconds } as const
  return { kind: 'refused', refused }
}

function deadlineError(): Error {
  return unavailable('the report could not be written in time, please send it again')
}

/**
 * The order in which the events of one request are appended: by min(timestamp, receivedAt), then
 * heartbeats, otherwise as sent. Facts follow the log's order, so a phone that sends its backlog
 * newest first loses no visit. Most requests are in order already and are returned unchanged after
 * one pass.
 */
function sortForAppend(events: readonly AppendedEvent[]): readonly AppendedEvent[] {
  let last = -Infinity
  for (const event of events) {
    const time = rankForAppend(event)
    if (time < last) return [...events].sort((a, b) => compare(rankForAppend(a), rankForAppend(b)))
    last = time
  }
  return events
}

function rankForAppend(event: AppendedEvent): number {
  return isDeviceSeen(event) ? Infinity : Math.min(event.timestamp, event.receivedAt)
}

/** Not by subtraction: Infinity − Infinity is NaN. */
function compare(a: number, b: number): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
