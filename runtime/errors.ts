/** Every error identifier of the HTTP APIs, with its status: the one table they are taken from. */
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

/** One faulty field of a request and what to send instead. */
export type Fault = { readonly field: string; readonly message: string }

/** An answer other than success, thrown anywhere and turned into the envelope in one middleware. */
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

/** 400 `INVALID_PARAMS`: the message names every faulty field (specification section 4.1, rule 1). */
export function invalidParams(faults: readonly Fault[]): ApiError {
  return new ApiError('INVALID_PARAMS', faults.map(({ message }) => message).join('; '), {
    details: faults,
  })
}

/** Something this process needs (log, store) did not do its part. Adapters wrap driver errors once. */
export class DependencyError extends Error {
  override readonly name = 'DependencyError'
  /** Whether the same call may succeed later, unchanged. */
  readonly retriable: boolean

  constructor(message: string, options: { retriable: boolean; cause?: unknown }) {
    super(message, { cause: options.cause })
    this.retriable = options.retriable
  }
}
