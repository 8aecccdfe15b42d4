import type { ReportOutcome } from './report.ts'

/** A response of the service, or of a proxy in front of it. */
export type ServiceAnswer = {
  readonly status: number
  /** The error's identifier, or `HTTP` and the status if there is none. */
  readonly error: string
  readonly message: string
  /** The `data` of a success. */
  readonly data?: unknown
  /** The delay from `Retry-After`, if present. */
  readonly retryAfterMs?: number
}

export async function readAnswer(response: {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  text(): Promise<string>
}): Promise<ServiceAnswer> {
  const { status } = response
  const envelope = parseJson(await response.text())
  const [error, message] = [property(envelope, 'error'), property(envelope, 'message')]
  const retryAfterMs = waitMs(response.headers.get('retry-after'))
  return {
    status,
    error: typeof error === 'string' ? error : `HTTP ${status}`,
    message: typeof message === 'string' ? message : `the service responded with ${status}`,
    data: property(envelope, 'data'),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  }
}

/** The report must be sent again. */
export type Later = { readonly kind: 'later'; readonly reason: string }

/** The outcome of a request with one report. */
export function parseOutcome(answer: ServiceAnswer): ReportOutcome | Later {
  const { status, error, message, data } = answer
  if (status === 200) return parseAccepted(data) ?? { kind: 'refused', ...NOT_OURS }
  return isRetriable(answer) ? later(answer) : { kind: 'refused', error, message }
}

/**
 * Parses the outcome of each report of a batch; undefined if the response has no individual
 * results.
 */
export function parseOutcomes(
  { status, data }: ServiceAnswer,
  expected: number,
): (ReportOutcome | Later)[] | undefined {
  const results = status === 200 ? property(data, 'results') : undefined
  if (!Array.isArray(results) || results.length !== expected) return undefined
  return results.map((result: unknown) => {
    const [error, message] = [property(result, 'error'), property(result, 'message')]
    if (typeof error !== 'string') return parseAccepted(result) ?? { kind: 'refused', ...NOT_OURS }
    return RETRIABLE.has(error)
      ? { kind: 'later', reason: error }
      : { kind: 'refused', error, message: String(message) }
  })
}

function isRetriable({ status }: ServiceAnswer): boolean {
  return status === 408 || status === 429 || status >= 500
}

function later({ status, error }: ServiceAnswer): Later {
  return { kind: 'later', reason: status === 429 ? RATE_LIMITED : error }
}

export const RATE_LIMITED = 'RATE_LIMITED'
/** Retriable errors of single reports in a batch. */
const RETRIABLE = new Set([RATE_LIMITED, 'SERVICE_UNAVAILABLE', 'SERVER_ERROR'])

const NOT_OURS = {
  error: '200 without a recordId',
  message: 'the response did not come from the service: is the address right?',
}

function parseAccepted(data: unknown): ReportOutcome | undefined {
  const [recordId, receivedAt] = [property(data, 'recordId'), property(data, 'receivedAt')]
  if (typeof recordId !== 'string') return undefined
  return { kind: 'accepted', recordId, receivedAt: String(receivedAt) }
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Record<string, unknown>)[name]
    : undefined
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Seconds or a date (RFC 9110, section 10.2.3). */
function waitMs(value: string | null): number | undefined {
  if (value === null) return undefined
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}
