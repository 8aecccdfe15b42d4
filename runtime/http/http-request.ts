import { isUtf8 } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { maskApiKeys } from '../../schemas/access/keys-in-text.ts'
import { ApiError, invalidParams } from '../errors.ts'

/** An unread body longer than this closes the connection instead of being read to its end. */
const DRAINED_BODY_BYTES = 1024 * 1024
const BYTE_ORDER_MARK = Buffer.from('\ufeff')

/** The caller's own id of a request if usable, or else a new one. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const id = headers['x-request-id']
  return typeof id === 'string' && isUsableId(id) ? id : randomUUID()
}

/** An API key in it would end up in the log, the audit and the response. */
function isUsableId(id: string): boolean {
  return /^[\w.:-]{1,64}$/.test(id) && maskApiKeys(id, { cut: false }) === id
}

/** The token of an `Authorization: Bearer` header (specification section 5, RFC 6750). */
export function bearerToken(authorization: string): string | undefined {
  return /^bearer +([^\s]+) *$/i.exec(authorization)?.[1]
}

/**
 * The 401 of a request without a valid token; `isSent`: it had an invalid token, or other
 * credentials.
 */
export function unauthorized(message: string, { isSent }: { isSent: boolean }): ApiError {
  const challenge = isSent ? 'Bearer realm="gps", error="invalid_token"' : 'Bearer realm="gps"'
  return new ApiError('UNAUTHORIZED', message, { headers: { 'WWW-Authenticate': challenge } })
}

/** The 403 of a key that lacks a scope. */
export function insufficientScope(scope: string): ApiError {
  const challenge = `Bearer realm="gps", error="insufficient_scope", scope="${scope}"`
  return new ApiError('FORBIDDEN', `this API key lacks the scope ${scope}`, {
    headers: { 'WWW-Authenticate': challenge },
  })
}

/** @throws {ApiError} 415 unless a media type, in lower case and without parameters, is JSON. */
export function requireJson(mediaType: string): void {
  if (mediaType === 'application/json') return
  if (/^application\/[\w.!#$&^-]+\+json$/.test(mediaType)) return
  throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'send the body as Content-Type: application/json')
}

/**
 * Checks UTF-8 before it parses. A body-parser would decode invalid bytes to U+FFFD and so turn one
 * device's id into another's.
 * @throws {ApiError} 400.
 */
export function parseJson(body: Buffer): unknown {
  const bytes = skipByteOrderMark(body)
  if (bytes.length === 0) throw emptyBody()
  if (!isUtf8(bytes)) throw bodyFault('the body must be UTF-8')
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown
  } catch {
    throw bodyFault('the body must be well-formed JSON')
  }
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c]
const OPENING = new Set([0x5b, 0x7b])
const CLOSING = new Set([0x5d, 0x7d])

/** Whether the nesting of lists and objects in well-formed JSON exceeds this depth. */
export function isNestedDeeper(json: Buffer, depth: number): boolean {
  if (json.length <= 2 * depth) return false
  let level = 0
  let isText = false
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at]!
    if (byte === QUOTE) isText = !isText
    else if (isText) at += byte === BACKSLASH ? 1 : 0
    else if (OPENING.has(byte)) level += 1
    else if (CLOSING.has(byte)) level -= 1
    if (level > depth) return true
  }
  return false
}

/**
 * The bytes after a UTF-8 byte order mark, which a JSON parser may ignore (RFC 8259, section 8.1).
 */
export function skipByteOrderMark(bytes: Buffer): Buffer {
  const [first, second, third] = BYTE_ORDER_MARK
  const isMarked = bytes[0] === first && bytes[1] === second && bytes[2] === third
  return isMarked ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes
}

/** A 400 for a fault of the body as a whole. */
export function bodyFault(message: string): ApiError {
  return invalidParams([{ field: 'body', message }])
}

export function emptyBody(): ApiError {
  return bodyFault('the body is empty: send a JSON object')
}

export function cutOffBody(): ApiError {
  return bodyFault('the body ended before it was complete')
}

export function bodyTooLarge(limitBytes: number): ApiError {
  return new ApiError('PAYLOAD_TOO_LARGE', `the body must not be larger than ${limitBytes} bytes`)
}

export function hasLongUnreadBody(
  { complete, headers }: IncomingMessage,
  most = DRAINED_BODY_BYTES,
): boolean {
  if (complete) return false
  const declared = headers['content-length']
  if (declared === undefined) return headers['transfer-encoding'] !== undefined
  return Number(declared) > most
}
