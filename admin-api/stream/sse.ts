/** The client's reconnection delay in milliseconds. */
const RETRY_MS = 2_000

/** The events that readers choose from, and the default choice. */
export const CHOSEN_EVENTS = [
  'position',
  'device-status',
  'fact',
  'rejection',
  'device-erased',
] as const
export type ChosenEvent = (typeof CHOSEN_EVENTS)[number]
export const USUAL_EVENTS: ReadonlySet<ChosenEvent> = new Set(['position', 'device-status'])

export type StreamEventName = ChosenEvent | 'gap' | 'lagging' | 'heartbeat'

/** The first bytes of a stream (WHATWG HTML section 9.2): the reconnection delay. */
export function retryLine(): string {
  return `retry: ${RETRY_MS}\n\n`
}

/** An event with JSON data, which contains no line breaks. */
export function eventFrame(event: StreamEventName, json: string, id?: string): string {
  return `event: ${event}\n${idLine(id)}data: ${json}\n\n`
}

/**
 * Keeps proxies from closing a quiet stream, and advances the client's place. It is an event with
 * data, because clients discard the id of a comment.
 */
export function heartbeatFrame(id?: string): string {
  return eventFrame('heartbeat', '{}', id)
}

function idLine(id: string | undefined): string {
  return id === undefined ? '' : `id: ${id}\n`
}
