/** A request that ended for a reason of ours; the message is for operators. */
export class EndedRequestError extends Error {
  override readonly name = 'EndedRequestError'
}

const KNOWN: Readonly<Record<string, string>> = {
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the name of the host could not be resolved',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed before an answer',
  EPIPE: 'the connection was closed before an answer',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the host cannot be reached',
  ETIMEDOUT: 'no connection in time',
  HPE_HEADER_OVERFLOW: 'the headers of the answer are too large',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate cannot be verified',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host',
}

/** Why a request had no answer, in words that hold nothing of the request. */
export function requestFailure(error: unknown, withinMs: number): string {
  if (error instanceof EndedRequestError) return error.message
  const { name, code, errors } = error as { name?: unknown; code?: unknown; errors?: unknown }
  if (name === 'TimeoutError') return `no answer within ${withinMs / 1_000} s`
  // Several addresses were tried: as the first one failed.
  if (Array.isArray(errors) && errors.length > 0) return requestFailure(errors[0], withinMs)
  if (typeof code !== 'string') return 'the request failed'
  return KNOWN[code] ?? `the request failed (${code.replace(/[^A-Z0-9_]/g, '')})`
}
