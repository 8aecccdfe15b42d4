export type FieldFault = { readonly field: string; readonly message: string }

/** A failed call, with a message for the operator. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure'
  /** 0 if there was no response. */
  readonly status: number
  /** The API's identifier, such as `NOT_FOUND`; `UNREACHABLE` if there was no response. */
  readonly error: string
  readonly details: readonly FieldFault[]
  readonly requestId: string | undefined
  /** When the call may be repeated, in milliseconds since the epoch. */
  readonly retryAt: number | undefined

  constructor(
    message: string,
    {
      status,
      error,
      details = [],
      requestId,
      retryAt,
      cause,
    }: {
      status: number
      error: string
      details?: readonly FieldFault[]
      requestId?: string | undefined
      retryAt?: number | undefined
      cause?: unknown
    },
  ) {
    super(message, { cause })
    this.status = status
    this.error = error
    this.details = details
    this.requestId = requestId
    this.retryAt = retryAt
  }
}

/** The failure in an error response; proxies may respond with something other than our envelope. */
export function failureOf(
  response: { readonly status: number; readonly headers: Headers },
  envelope: Readonly<Record<string, unknown>> | undefined,
): ApiFailure {
  const { status, headers } = response
  const seconds = Number(headers.get('Retry-After') ?? NaN)
  return new ApiFailure(textOf(envelope?.['message']) ?? `the service responded with ${status}`, {
    status,
    error: textOf(envelope?.['error']) ?? `HTTP_${status}`,
    details: Array.isArray(envelope?.['details']) ? (envelope['details'] as FieldFault[]) : [],
    requestId: headers.get('X-Request-Id') ?? undefined,
    retryAt: Number.isFinite(seconds) ? Date.now() + seconds * 1_000 : undefined,
  })
}

export function unreachableFailure(cause: unknown): ApiFailure {
  const message = 'the service cannot be reached: check the network, then try again'
  return new ApiFailure(message, { status: 0, error: 'UNREACHABLE', cause })
}

/** A fault that the page itself finds in a field. */
export function fieldFailure(field: string, message: string): ApiFailure {
  return new ApiFailure(message, {
    status: 400,
    error: 'INVALID_PARAMS',
    details: [{ field, message }],
  })
}

/** Converts any thrown value to a failure to show. */
export function toFailure(thrown: unknown): ApiFailure {
  if (thrown instanceof ApiFailure) return thrown
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return new ApiFailure(message, { status: 0, error: 'CONSOLE_FAULT', cause: thrown })
}

/** The API's messages start in lower case and have no full stop. */
export function sentence(message: string): string {
  const begun = message.charAt(0).toUpperCase() + message.slice(1)
  return /[.!?]$/.test(begun) ? begun : `${begun}.`
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/**
 * A form's message at a field: the page's own sentences unchanged, the API's with the field's label
 * instead of its name; for an empty field, an instruction.
 */
export function faultText({ field, message }: FieldFault, label: string, isEmpty: boolean): string {
  if (/^[A-Z]/.test(message)) return message
  if (isEmpty) return `Enter ${chooseArticle(label)} ${lowerFirstLetter(label)}.`
  const isAboutField = message.startsWith(`${field} `)
  return sentence(isAboutField ? label + message.slice(field.length) : message)
}

function chooseArticle(label: string): string {
  return /^[aeio]/i.test(label) ? 'an' : 'a'
}

/** Abbreviations keep their capitals. */
function lowerFirstLetter(label: string): string {
  return /^[A-Z]{2}/.test(label) ? label : label.charAt(0).toLowerCase() + label.slice(1)
}
