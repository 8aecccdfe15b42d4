/** A request that we ended ourselves; the message is for operators. */
export class EndedRequestError extends Error {
  override readonly name = 'EndedRequestError'
}

const KNOWN: Readonly<Record<string, string>> = {
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the name of the host could not be resolved',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed before a response',
  EPIPE: 'the connection was closed before a response',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the host cannot be reached',
  ECONNECTION: 'the connection was closed before a response',
  ETIMEDOUT: 'no connection in time',
  HPE_HEADER_OVERFLOW: 'the headers of the response are too large',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate cannot be verified',
  UNABLE_TO_GET_ISSUER_CERT: 'the certificate cannot be verified',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the certificate cannot be verified',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host',
  ERR_SSL_WRONG_VERSION_NUMBER: 'there is no TLS at this port',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'there is no TLS at this port',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'there is no version of TLS that both sides know',
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: 'there is no version of TLS that both sides know',
}

/** Explains why a request got no response, without revealing anything of the request. */
export function requestFailure(error: unknown): string {
  if (error instanceof EndedRequestError) return error.message
  const { code, errors } = error as { code?: unknown; errors?: unknown }
  // Several addresses were tried: report the first failure.
  if (Array.isArray(errors) && errors.length > 0) return requestFailure(errors[0])
  if (typeof code !== 'string') return 'the request failed'
  return KNOWN[code] ?? `the request failed (${code.replace(/[^A-Z0-9_]/g, '')})`
}
