import bodyParser from 'koa-bodyparser'
import { ApiError, invalidParams } from '../../runtime/errors.ts'
import {
  bodyFault,
  cutOffBody,
  emptyBody,
  isNestedDeeper,
  parseJson,
  requireJson,
  bodyTooLarge,
} from '../../runtime/http/http-request.ts'
import { fieldPath } from '../../schemas/report/field-path.ts'
import type { AdminContext } from './admin-route.ts'
import { inputOf, type InputOf, type Rules } from './rule.ts'
import { isJsonObject } from '../../schemas/text/json-object.ts'

const USUAL_LIMIT_BYTES = 16 * 1024
/** A feature of a GeoJSON file has ten. */
const MOST_NESTED = 64

// Passed on as bytes, not text: a decoder would turn invalid UTF-8 into U+FFFD, and so turn one
// device's id into another's. raw-body does not decode when `encoding` is empty.
const bytesOnly = (limitBytes: number) => ({
  enableTypes: ['text'],
  extendTypes: { text: ['json', '+json'] },
  encoding: '',
  textLimit: String(limitBytes),
  onerror(error: Error, ctx: AdminContext) {
    // Closing a connection with unread bytes resets it, which loses the response.
    ctx.req.resume()
    throw bodyError(error, limitBytes)
  },
})

/**
 * Reads a JSON body with these fields only, and reports all faults together. `null` in an optional
 * field means absent unless its rule says otherwise. Unknown fields are refused: a misspelt
 * `expiresAt` must not create a key that never expires. In files of other programs they are ignored.
 *
 * @throws {ApiError} 415, 413, or 400 naming each faulty field.
 */
export async function readJsonFields<Fields extends Rules>(
  ctx: AdminContext,
  fields: Fields,
  {
    now,
    mayBeAbsent = false,
    othersIgnored = false,
    limitBytes = USUAL_LIMIT_BYTES,
  }: {
    readonly now: number
    /** A missing body counts as an empty object. */
    readonly mayBeAbsent?: boolean
    readonly othersIgnored?: boolean
    readonly limitBytes?: number | undefined
  },
): Promise<InputOf<Fields>> {
  const absent = mayBeAbsent && !hasBody(ctx)
  const { json, fields: sent } = absent ? NO_BODY : await readJsonObject(ctx, limitBytes)
  const body = new Map(Object.entries(sent))
  const known = Object.keys(fields)
  const unknown = [...body.keys()].filter((field) => !othersIgnored && !known.includes(field))
  const faults = unknown.map((name) => {
    const field = fieldPath([name])
    return { field, message: `${field} is not a field of this call: it takes ${known.join(', ')}` }
  })
  const input = inputOf(fields, { read: (field) => body.get(field), now, faults })
  // Serialising it again would exhaust the stack.
  if (isNestedDeeper(json, MOST_NESTED)) {
    throw bodyFault(`the body must have at most ${MOST_NESTED} lists and objects within each other`)
  }
  return input
}

const NO_BODY = { json: Buffer.alloc(0), fields: {} }

function hasBody(ctx: AdminContext): boolean {
  return ctx.get('transfer-encoding') !== '' || Number(ctx.get('content-length')) > 0
}

async function readJsonObject(
  ctx: AdminContext,
  limitBytes: number,
): Promise<{ readonly json: Buffer; readonly fields: Record<string, unknown> }> {
  if (!hasBody(ctx)) throw emptyBody()
  requireJson(ctx.request.type.toLowerCase())
  if (!/^(identity)?$/i.test(ctx.get('content-encoding'))) {
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'send the body without a Content-Encoding')
  }
  // The parser reads a length of 2³² or more as a small one.
  if (Number(ctx.get('content-length')) > limitBytes) throw bodyTooLarge(limitBytes)
  await bodyParser(bytesOnly(limitBytes))(ctx, () => Promise.resolve())
  const bytes: unknown = ctx.request.body
  const json = Buffer.isBuffer(bytes) ? bytes : Buffer.alloc(0)
  const value = parseJson(json)
  if (!isJsonObject(value)) {
    throw bodyFault('the body must be a JSON object')
  }
  return { json, fields: value }
}

function bodyError(error: Error & { status?: number; type?: string }, limitBytes: number): Error {
  if (error.status === 413) return bodyTooLarge(limitBytes)
  if (error.status === 400) return cutOffBody()
  return error
}

/** @throws {ApiError} 400 if a change names no field that can be changed. */
export function requireChange(change: object, fields: Rules): void {
  if (Object.keys(change).length > 0) return
  const message = `the body must have one or more of ${Object.keys(fields).join(', ')}`
  throw invalidParams([{ field: 'body', message }])
}
