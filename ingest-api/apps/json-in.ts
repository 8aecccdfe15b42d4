import type { AppItem } from './app.ts'

/** A larger body contains photos, or hundreds of points. */
const LARGE_BYTES = 1024 * 1024
/** Twice the number of parts of apps' points in 2 MiB. */
const MOST_PARTS = 200_000
const [COMMA, BRACE, BRACKET] = [0x2c, 0x7b, 0x5b]

/** The fields of a body that is a JSON object; otherwise a malformed item. */
export function jsonObjectIn(
  body: Buffer,
): { readonly fields: Record<string, unknown> } | { readonly malformed: AppItem } {
  if (hasTooManyParts(body)) return malformed('the body has too many parts', undefined)
  let json: unknown
  try {
    json = JSON.parse(body.toString('utf8'))
  } catch {
    return malformed('the body must be well-formed JSON', undefined)
  }
  if (typeof json === 'object' && json !== null && !Array.isArray(json)) {
    return { fields: json as Record<string, unknown> }
  }
  return malformed('the body must be a JSON object', json)
}

function malformed(message: string, sent: unknown): { malformed: AppItem } {
  return { malformed: { kind: 'malformed', message, sent } }
}

/** Parsing millions of parts takes seconds, in which no other request is answered. */
function hasTooManyParts(body: Buffer): boolean {
  if (body.length <= LARGE_BYTES) return false
  let parts = 0
  for (let index = 0; index < body.length; index += 1) {
    const byte = body[index]
    if (byte === COMMA || byte === BRACE || byte === BRACKET) parts += 1
  }
  return parts > MOST_PARTS
}
