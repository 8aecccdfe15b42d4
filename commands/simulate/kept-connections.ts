import { Agent, fetch, type RequestInit, type Response } from 'undici'

const TIMEOUT_MS = 10_000

export type KeptConnections = {
  readonly fetch: (url: string, init?: RequestInit) => Promise<Response>
  readonly close: () => Promise<void>
}

/**
 * A `fetch` over a limited number of kept-alive connections. A request ends with its response, a
 * time-out or `cut`, and on no other signal: a stopped run waits for its requests in flight.
 */
export function limitConnections({
  most,
  cut,
  timeoutMs = TIMEOUT_MS,
}: {
  most: number
  cut: AbortSignal
  timeoutMs?: number
}): KeptConnections {
  const dispatcher = new Agent({
    connections: most,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect: { timeout: timeoutMs },
  })
  const destroy = () => dispatcher.destroy(null, () => undefined)
  cut.addEventListener('abort', destroy)
  return {
    fetch: (url, init) => fetch(url, { ...init, signal: null, dispatcher }),
    async close() {
      cut.removeEventListener('abort', destroy)
      await (cut.aborted ? dispatcher.destroy() : dispatcher.close())
    },
  }
}
