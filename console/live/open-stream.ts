import { eventReader, type StreamEvent } from './read-events.ts'

export type StreamOptions = {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly onOpen: () => void
  /** What has come at once, in its order. */
  readonly onEvents: (events: readonly StreamEvent[]) => void
  /** The connection is gone or was refused, with this status (0: no answer); it is tried again. */
  readonly onLost: (status: number) => void
  /** Asked after a 401: whether it makes sense to go on. */
  readonly onUnauthorized: () => Promise<boolean>
  /** Statuses after which it is not tried again. */
  readonly final?: readonly number[]
  /** Without a sign of life for so long the connection counts as lost: a heartbeat comes every 15 s. */
  readonly silentMs?: number
  readonly firstDelayMs?: number
}

const LONGEST_DELAY_MS = 30_000

/**
 * Reads an event stream until `close` is called, and opens it again whenever it ends. Unlike
 * EventSource it also comes back after a 429 or 503, keeps to Retry-After, notices a connection that
 * has died silently, and can send a header.
 */
export function openStream(options: StreamOptions): { close(): void } {
  const closing = new AbortController()
  run(options, closing.signal).catch(() => undefined)
  return { close: () => closing.abort() }
}

async function run(options: StreamOptions, closing: AbortSignal): Promise<void> {
  const { firstDelayMs = 1_000, final = [] } = options
  let failures = 0
  while (!closing.aborted) {
    const { status, wasOpen, retryAfterMs } = await connect(options, closing)
    if (closing.aborted) return
    options.onLost(status)
    if (final.includes(status)) return
    if (status === 401) {
      if (!(await options.onUnauthorized())) return
      continue
    }
    failures = wasOpen ? 1 : failures + 1
    const delayMs = Math.min(LONGEST_DELAY_MS, firstDelayMs * 2 ** (failures - 1))
    // Many consoles are not to come back in the same moment.
    await pause(Math.max(retryAfterMs, delayMs * (0.5 + Math.random() / 2)), closing)
  }
}

type Ended = {
  readonly status: number
  readonly wasOpen: boolean
  readonly retryAfterMs: number
}

async function connect(options: StreamOptions, closing: AbortSignal): Promise<Ended> {
  const { url, headers = {}, onOpen, onEvents, silentMs = 40_000 } = options
  const silent = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const heard = () => {
    clearTimeout(timer)
    timer = setTimeout(() => silent.abort(), silentMs)
  }
  let status = 0
  let wasOpen = false
  let retryAfterMs = 0
  heard()
  try {
    const response = await fetch(url, {
      headers: { Accept: 'text/event-stream', ...headers },
      signal: AbortSignal.any([closing, silent.signal]),
    })
    status = response.status
    retryAfterMs = (Number(response.headers.get('Retry-After')) || 0) * 1_000
    if (!response.ok || response.body === null) {
      await response.body?.cancel()
      return { status, wasOpen, retryAfterMs }
    }
    wasOpen = true
    onOpen()
    const read = eventReader()
    const reader = response.body.getReader()
    const decoder = new TextDecoder()
    for (;;) {
      const { value, done } = await reader.read()
      if (done) break
      heard()
      const events = read(decoder.decode(value, { stream: true }))
      if (events.length > 0) onEvents(events)
    }
  } catch {
    // Broken off, silent, or closed: `run` knows which.
  } finally {
    clearTimeout(timer)
  }
  return { status, wasOpen, retryAfterMs }
}

function pause(ms: number, closing: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    closing.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
