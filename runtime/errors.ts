/** Every error identifier of the HTTP APIs, with its status. */
export const ERRORS = {
  INVALID_PARAMS: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RATE_LIMITED: 429,
  HEADERS_TOO_LARGE: 431,
  SERVER_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
} as const

export type ErrorIdentifier = keyof typeof ERRORS

/** The meaning of each identifier, for the OpenAPI documents; Markdown. */
export const ERROR_MEANINGS: Readonly<Record<ErrorIdentifier, string>> = {
  INVALID_PARAMS:
    'The request is faulty; `details` names each faulty field and what to send instead',
  UNAUTHORIZED: 'No valid credentials were sent; the response is the same for all invalid ones',
  FORBIDDEN: 'The caller is known and may not do this',
  NOT_FOUND: 'It does not exist, or belongs to another account',
  METHOD_NOT_ALLOWED: 'The path does not take this method; `Allow` names those it takes',
  REQUEST_TIMEOUT: 'The request arrived too slowly',
  CONFLICT: 'The request contradicts the current state',
  PAYLOAD_TOO_LARGE: 'The body is larger than the call takes',
  UNSUPPORTED_MEDIA_TYPE: 'The body’s Content-Type or Content-Encoding is not one the call takes',
  RATE_LIMITED: 'Too many requests; the same one may succeed after `Retry-After` seconds',
  HEADERS_TOO_LARGE:
    'The request line and headers are larger than 16 KiB, or there are more than 100 headers',
  SERVER_ERROR: 'An internal error; quote the `X-Request-Id` when you report it',
  SERVICE_UNAVAILABLE: 'This cannot be done right now; send it again after `Retry-After` seconds',
}

/** A faulty field of a request, and what to send instead. */
export type Fault = { readonly field: string; readonly message: string }

/**
 * A response other than success, thrown anywhere and turned into the envelope in one middleware.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly error: ErrorIdentifier
  readonly status: number
  readonly details: readonly Fault[] | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(
    error: ErrorIdentifier,
    message: string,
    options: { details?: readonly Fault[]; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.error = error
    this.status = ERRORS[error]
    this.details = options.details
    this.headers = options.headers ?? {}
  }
}

/** Beyond this number, a request's faults are only counted. */
const FAULTS_LISTED = 20

/**
 * 400 `INVALID_PARAMS`: the message names every faulty field (specification section 4.1, rule 1).
 */
export function invalidParams(faults: readonly Fault[]): ApiError {
  const { message, details } = describeFaults(faults)
  return new ApiError('INVALID_PARAMS', message, { details })
}

/** Message and details for a sender: the first 20 faults, and the number of further ones. */
export function describeFaults(faults: readonly Fault[]): {
  message: string
  details: readonly Fault[]
} {
  const details = faults.slice(0, FAULTS_LISTED)
  const more = faults.length - details.length
  const messages = details.map(({ message }) => message)
  if (more > 0) messages.push(`and ${more} more`)
  return { message: messages.join('; '), details }
}

/** The log or the store failed. Adapters wrap driver errors once. */
export class DependencyError extends Error {
  override readonly name = 'DependencyError'
  /** Whether the same call may succeed later. */
  readonly retriable: boolean
  /** Logs this dependency's failures; without it, each failure is logged where it is caught. */
  declare outage?: { trouble(kind: string, log: () => void): void }

  constructor(message: string, options: { retriable: boolean; cause?: unknown }) {
    super(message, { cause: options.cause })
    this.retriable = options.retriable
  }
}

/** Clients refused at the same time should return at different times. */
const RETRY_AFTER_SECONDS = [1, 2, 3] as const

/** The error response for anything thrown; unexpected errors reveal nothing. */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown
  if (thrown instanceof DependencyError && thrown.retriable) {
    return unavailable('the service cannot do this right now, please send it again', thrown)
  }
  return new ApiError('SERVER_ERROR', 'something went wrong in the service', { cause: thrown })
}

/** 503: the same request may succeed after `Retry-After`. */
export function unavailable(message: string, cause?: unknown): ApiError {
  return new ApiError('SERVICE_UNAVAILABLE', message, {
    headers: { 'Retry-After': retryAfterSeconds() },
    cause,
  })
}

/** The 429 beyond a limit that resets after this time. */
export function rateLimited(message: string, seconds: number): ApiError {
  return new ApiError('RATE_LIMITED', `${message}: try again in ${seconds} s`, {
    headers: { 'Retry-After': String(seconds) },
  })
}

export function retryAfterSeconds(): string {
  return String(RETRY_AFTER_SECONDS[Math.floor(Math.random() * RETRY_AFTER_SECONDS.length)])
}

/** Whether an error shows a bug in the program, for which the stack trace is needed. */
export function isProgramFault(error: unknown): boolean {
  return (
    !(error instanceof Error) ||
    error instanceof TypeError ||
    error instanceof RangeError ||
    error instanceof ReferenceError ||
    error instanceof SyntaxError
  )
}

/** The message of an error, without its stack. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
