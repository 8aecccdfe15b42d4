import { invalidParams, toApiError } from '../../runtime/errors.ts'
import { bodyFault, parseJson } from '../../runtime/http/http-request.ts'
import { isoTime } from '../../schemas/text/iso-8601.ts'
import { addMisspelt } from '../../schemas/report/misspelt-fields.ts'
import { NO_TIMESTAMP } from '../../schemas/report/position-report.ts'
import type { Scope } from '../../store/keys.ts'
import type { Accept } from '../accept/accept.ts'
import { rateLimitHeaders, type KeyLimit } from '../accept/limits.ts'
import { refusalOf, type PositionOutcome, type SubmittedPosition } from '../accept/outcome.ts'
import { readBearer, type Admit } from '../admission/admission.ts'
import { readJson } from '../admission/body.ts'
import { idempotencyKey, type SenderRequest } from '../admission/sender-request.ts'
import type { WorkTurns } from '../admission/work-turns.ts'
import { success, type Endpoint, type SenderAnswer } from './answer-senders.ts'

export const MOST_REPORTS = 1000

/** A call in the service's native format: a bearer key and a JSON body. */
export type NativeCall = {
  readonly path: string
  readonly scope: Scope
  /** The largest body, after decompression. */
  readonly limitBytes: number
  /** @throws {ApiError} 400 if the request as a whole is faulty. */
  readonly reportsIn: (json: unknown, request: SenderRequest) => readonly SubmittedPosition[]
  /** Whether the response shows the device's limit if it is nearer than the key's. */
  readonly showsDeviceLimit: boolean
  /** @throws {ApiError} if the only report was rejected. */
  readonly answer: (
    outcomes: readonly PositionOutcome[],
    reports: readonly SubmittedPosition[],
  ) => SenderAnswer
}

/** Accepts one report and appends one `PositionReported` to the log (specification section 4.1). */
export const SUBMIT_CALL: NativeCall = {
  path: '/api/v1/gps/submit',
  scope: 'positions:write',
  limitBytes: 16 * 1024,
  reportsIn: (json, request) => [{ json, chunks: request.chunks, ...idempotencyKey(request) }],
  showsDeviceLimit: true,
  answer: answerOfOne,
}

/**
 * Accepts up to 1000 reports and returns a result for each; a rejected report does not affect the
 * others. If the batch has an Idempotency-Key, each report's key is derived from it.
 */
export const BATCH_CALL: NativeCall = {
  path: '/api/v1/gps/batch',
  scope: 'positions:write',
  limitBytes: 1024 * 1024,
  reportsIn(json, request) {
    const reports = listIn(json)
    const { idempotencyKey: header, faults } = idempotencyKey(request)
    if (faults !== undefined) throw invalidParams(faults)
    return reports.map((report, index) => ({
      json: report,
      ...(header !== undefined && { idempotencyKey: `${header} ${index}` }),
    }))
  },
  showsDeviceLimit: false,
  answer: answerOfEach,
}

/** Imports history recorded earlier by another system, in batches. */
export const IMPORT_CALL: NativeCall = {
  ...BATCH_CALL,
  path: '/api/v1/gps/import',
  scope: 'positions:import',
  reportsIn: (json) => listIn(json).map(parseImported),
}

/**
 * Serves one of these calls. All accepted reports are durable before the response.
 * @param turns the slots for processing large bodies.
 */
export function nativeEndpoint(
  call: NativeCall,
  {
    admit,
    keyLimit,
    turns,
    accept,
  }: {
    readonly admit: Admit
    readonly keyLimit: KeyLimit
    readonly turns: WorkTurns
    readonly accept: Accept
  },
): Endpoint {
  const { path, scope, limitBytes, showsDeviceLimit } = call

  async function reportsOf(request: SenderRequest): Promise<readonly SubmittedPosition[]> {
    const bytes = await readJson(request, limitBytes)
    if (bytes.length >= turns.fromBytes) await turns.begin(request)
    return call.reportsIn(parseJson(bytes), request)
  }

  return {
    path,
    async answer(request) {
      const credentials = readBearer(request)
      const { grant, allowance } = await admit(request, { credentials, scope, keyLimit })
      let reports: readonly SubmittedPosition[]
      try {
        reports = await reportsOf(request)
      } catch (error) {
        // A 503's Retry-After is shorter than the limit's reset.
        if (toApiError(error).status !== 503) {
          request.answerHeaders.push(...rateLimitHeaders(allowance))
        }
        throw error
      }
      const { outcomes, keyAllowance, deviceAllowance } = await accept(grant, reports, request)
      const ofDevice = showsDeviceLimit ? deviceAllowance : undefined
      request.answerHeaders.push(...rateLimitHeaders(keyAllowance ?? allowance, ofDevice))
      return call.answer(outcomes, reports)
    },
  }
}

function answerOfOne(
  [outcome]: readonly PositionOutcome[],
  [report]: readonly SubmittedPosition[],
): SenderAnswer {
  if (outcome === undefined) throw new Error('a report has no outcome')
  switch (outcome.kind) {
    case 'accepted': {
      const { recordId } = outcome
      const message = addMisspelt('Position accepted', [report?.json])
      return success(message, { recordId, receivedAt: isoTime(outcome.receivedAt) })
    }
    case 'refused':
      throw refusalOf(outcome)
  }
}

function answerOfEach(
  outcomes: readonly PositionOutcome[],
  reports: readonly SubmittedPosition[],
): SenderAnswer {
  const results = outcomes.map(resultOf)
  const accepted = outcomes.filter(({ kind }) => kind === 'accepted').length
  const rejected = outcomes.length - accepted
  const message = addMisspelt(
    `${accepted} accepted, ${rejected} rejected`,
    reports.map(({ json }) => json),
  )
  return success(message, { accepted, rejected, results })
}

function resultOf(outcome: PositionOutcome, index: number) {
  switch (outcome.kind) {
    case 'accepted': {
      const { recordId, receivedAt } = outcome
      return { index, recordId, receivedAt: isoTime(receivedAt) }
    }
    case 'refused':
      return { index, error: outcome.error, message: outcome.message }
  }
}

/** @throws {ApiError} 400 if the body is not a batch. */
function listIn(json: unknown): readonly unknown[] {
  const reports =
    typeof json === 'object' && json !== null && Object.hasOwn(json, 'reports')
      ? (json as { reports: unknown }).reports
      : undefined
  if (Array.isArray(reports) && reports.length >= 1 && reports.length <= MOST_REPORTS) {
    return reports
  }
  throw bodyFault(`the body must be {"reports":[…]} with 1 to ${MOST_REPORTS} position reports`)
}

function parseImported(json: unknown): SubmittedPosition {
  // An element that is not an object gets only its own fault, not also one for a missing timestamp.
  const fields = typeof json === 'object' && json !== null ? json : { timestamp: json }
  const timestamp = 'timestamp' in fields ? fields.timestamp : undefined
  const isTimed = timestamp !== undefined && timestamp !== null
  return { json, isImported: true, ...(!isTimed && { faults: [NO_TIMESTAMP] }) }
}
