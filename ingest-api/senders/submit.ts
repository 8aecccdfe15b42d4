import type { EventLog } from '../../event-log/event-log.ts'
import type { Clock } from '../../runtime/clock.ts'
import { ApiError, invalidParams, type Fault } from '../../runtime/errors.ts'
import { succeed, type HttpMiddleware } from '../../runtime/http.ts'
import type { Metrics } from '../../runtime/metrics.ts'
import { parsePositionReport, type PositionReport } from '../../schemas/position-report.ts'
import type { PositionReported } from '../../schemas/position-reported.ts'
import { recordIdFor } from '../../schemas/record-id.ts'
import type { ApiKey } from '../../store/back-office.ts'
import { requireDevice, type IngestState } from '../keys/authenticate.ts'
import { readJson } from './read-json.ts'

const LIMIT_BYTES = 16 * 1024

/**
 * `POST /api/v1/gps/submit`: one report in, one `PositionReported` in the log, and 200 only once it
 * is durable there (specification section 4.1).
 */
export function submitPosition({
  eventLog,
  clock,
}: {
  eventLog: Pick<EventLog, 'append'>
  clock: Clock
}): HttpMiddleware<IngestState> {
  return async function submitPosition(ctx) {
    const { grant } = ctx.state
    const body = await readJson(ctx, { limitBytes: LIMIT_BYTES })
    const receivedAt = clock.now()
    const { report, idempotencyKey } = parse(body, ctx.req.headers['idempotency-key'], receivedAt)
    requireDevice(grant, report.deviceId)
    const event = positionReported(report, { key: grant.key, idempotencyKey, receivedAt })
    await eventLog.append([event])
    succeed(
      ctx,
      { recordId: event.recordId, receivedAt: new Date(receivedAt).toISOString() },
      { message: 'Position accepted' },
    )
  }
}

/** Counts reports by outcome: accepted, or the error they were refused with. */
export function countReports({ metrics }: { metrics: Metrics }): HttpMiddleware<IngestState> {
  return async function countReports(_ctx, next) {
    try {
      await next()
      metrics.reports.inc({ outcome: 'accepted' })
    } catch (error) {
      const outcome = error instanceof ApiError ? error.error : 'SERVICE_UNAVAILABLE'
      metrics.reports.inc({ outcome })
      throw error
    }
  }
}

function parse(
  body: unknown,
  header: string | string[] | undefined,
  now: number,
): { report: PositionReport; idempotencyKey: string | undefined } {
  const parsed = parsePositionReport(body, { now })
  const faults: Fault[] = 'faults' in parsed ? [...parsed.faults] : []
  const idempotencyKey = typeof header === 'string' ? header : undefined
  if (header !== undefined && !/^[\x21-\x7e]{1,255}$/.test(String(header))) {
    const message = 'Idempotency-Key must be 1 to 255 visible ASCII characters'
    faults.push({ field: 'Idempotency-Key', message })
  }
  if (faults.length > 0 || 'faults' in parsed) throw invalidParams(faults)
  return { report: parsed.report, idempotencyKey }
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
