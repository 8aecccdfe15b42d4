import type { AppItem } from './app.ts'

/** The fields of a body that is a JSON object; otherwise a malformed item. */
export function jsonObjectIn(
  body: Buffer,
): { readonly fields: Record<string, unknown> } | { readonly malformed: AppItem } {
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
