/** How long a client waits before it connects again, in milliseconds. */
const RETRY_MS = 2_000

export type StreamEvent = 'position' | 'device-status' | 'gap' | 'lagging' | 'heartbeat'

/** The first bytes of a stream (WHATWG HTML section 9.2): how soon to connect again. */
export function retryLine(): string {
  return `retry: ${RETRY_MS}\n\n`
}

/** An event whose data is a JSON text: that has no line breaks of its own. */
export function eventFrame(event: StreamEvent, json: string, id?: string): string {
  return `event: ${event}\n${idLine(id)}data: ${json}\n\n`
}

/**
 * Keeps proxies from taking a quiet stream for a dead one, and moves a client's place on: an event with
 * data, because clients discard an id that stands on a comment.
 */
export function heartbeatFrame(id?: string): string {
  return eventFrame('heartbeat', '{}', id)
}

function idLine(id: string | undefined): string {
  return id === undefined ? '' : `id: ${id}\n`
}
