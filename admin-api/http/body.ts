import { isUtf8 } from 'node:buffer'
import bodyParser from 'koa-bodyparser'
import { withoutByteOrderMark } from '../../runtime/byte-order-mark.ts'
import { ApiError, invalidParams } from '../../runtime/errors.ts'
import { fieldPath } from '../../schemas/field-path.ts'
import type { AdminContext } from './admin-route.ts'
import { inputOf, type InputOf, type Rules } from './rule.ts'

const USUAL_LIMIT_BYTES = 16 * 1024

// Passed on as bytes, not text: a decoder would turn invalid UTF-8 into U+FFFD, and so one device's
// id into another's. raw-body does not decode when `encoding` is empty.
const bytesOnly = (limitBytes: number) => ({
  enableTypes: ['text'],
  extendTypes: { text: ['json', '+json'] },
  encoding: '',
  textLimit: String(limitBytes),
  onerror(error: Error, ctx: AdminContext) {
    // Closing a connection with unread bytes resets it, which loses the answer.
    ctx.req.resume()
    throw bodyError(error, limitBytes)
  },
})

/**
 * Reads a JSON body with these fields only, and reports all faults together. `null` in an optional
 * field means absent unless its rule says otherwise. Unknown fields are refused: a misspelt
 * `expiresAt` must not create a key that never expires.
 *
 * @throws {ApiError} 415, 413, or 400 naming each faulty field.
 */
export async function readJsonFields<Fields extends Rules>(
  ctx: AdminContext,
  fields: Fields,
  {
    now,
    mayBeAbsent = false,
    limitBytes = USUAL_LIMIT_BYTES,
  }: {
    readonly now: number
    /** A missing body counts as an empty object. */
    readonly mayBeAbsent?: boolean
    readonly limitBytes?: number | undefined
  },
): Promise<InputOf<Fields>> {
  const absent = mayBeAbsent && !hasBody(ctx)
  const body = new Map(absent ? [] : Object.entries(await readJsonObject(ctx, limitBytes)))
  const known = Object.keys(fields)
  const unknown = [...body.keys()].filter((field) => !known.includes(field))
  const faults = unknown.map((name) => {
    const field = fieldPath([name])
    return { field, message: `${field} is not a field of this call: it takes ${known.join(', ')}` }
  })
  return inputOf(fields, { read: (field) => body.get(field), now, faults })
}

function hasBody(ctx: AdminContext): boolean {
  return ctx.get('transfer-encoding') !== '' || Number(ctx.get('content-length')) > 0
}

async function readJsonObject(
  ctx: AdminContext,
  limitBytes: number,
): Promise<Record<string, unknown>> {
  const type = ctx.request.type.toLowerCase()
  if (!hasBody(ctx)) throw bodyFault('the body is empty: send a JSON object')
  if (type !== 'application/json' && !/^application\/[\w.!#$&^-]+\+json$/.test(type)) {
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'send the body as Content-Type: application/json')
  }
  if (!/^(identity)?$/i.test(ctx.get('content-encoding'))) {
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'send the body without a Content-Encoding')
  }
  if (Number(ctx.get('content-length')) > limitBytes) throw tooLarge(limitBytes)
  await bodyParser(bytesOnly(limitBytes))(ctx, () => Promise.resolve())
  const bytes: unknown = ctx.request.body
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) {
    throw bodyFault('the body is empty: send a JSON object')
  }
  if (!isUtf8(bytes)) throw bodyFault('the body must be UTF-8')
  const value = parseJson(withoutByteOrderMark(bytes).toString('utf8'))
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw bodyFault('the body must be a JSON object')
  }
  return value as Record<string, unknown>
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw bodyFault('the body must be well-formed JSON')
  }
}

function bodyError(error: Error & { status?: number; type?: string }, limitBytes: number): Error {
  if (error.status === 413) return tooLarge(limitBytes)
  if (error.status === 400) return bodyFault('the body ended before it was complete')
  return error
}

function tooLarge(limitBytes: number): ApiError {
  const message = `the body must not be larger than ${limitBytes} bytes`
  return new ApiError('PAYLOAD_TOO_LARGE', message)
}

function bodyFault(message: string): ApiError {
  return invalidParams([{ field: 'body', message }])
}

/** @throws {ApiError} 400 if a change names no field that can be changed. */
export function requireChange(change: object, fields: Rules): void {
  if (Object.keys(change).length > 0) return
  const message = `the body must have one or more of ${Object.keys(fields).join(', ')}`
  throw invalidParams([{ field: 'body', message }])
}
