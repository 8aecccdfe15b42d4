import { eventReader, type StreamEvent } from './read-events.ts'

export type StreamOptions = {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  /** `isResumed`: it goes on after the last event, so that nothing that has a mark was missed. */
  readonly onOpen: (opening: { readonly isResumed: boolean }) => void
  /** What has come at once, in its order. */
  readonly onEvents: (events: readonly StreamEvent[]) => void
  /** The connection is gone or was refused, with this status (0: no answer); it is tried again. */
  readonly onLost: (status: number) => void
  /** Asked after a 401: whether it makes sense to go on. */
  readonly onUnauthorized: () => Promise<boolean>
  /** Statuses after which it is not tried again. */
  readonly final?: readonly number[]
  /** The id of the event after which it goes on; without it, it begins with what comes now. */
  readonly resumeAfter?: string | undefined
  /** A mark older than this is not used: everything since then costs more than a list. */
  readonly resumeMs?: number
  /** Without a sign of life for so long the connection counts as lost: a heartbeat comes every 4 s. */
  readonly silentMs?: number
  readonly firstDelayMs?: number
  /** An opening counts as a success once it has lasted so long: until then the delays grow. */
  readonly settledMs?: number
}

export const RESUME_MS = 60_000

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
  const { firstDelayMs = 1_000, settledMs = 30_000, resumeMs = RESUME_MS, final = [] } = options
  const mark: Mark = { id: options.resumeAfter ?? '', at: Date.now() }
  let failures = 0
  while (!closing.aborted) {
    if (Date.now() - mark.at >= resumeMs) mark.id = ''
    const { status, openMs, retryAfterMs } = await connect(options, mark, closing)
    if (closing.aborted) return
    options.onLost(status)
    if (final.includes(status)) return
    if (status === 401) {
      if (!(await options.onUnauthorized())) return
      continue
    }
    // A mark that the service does not take.
    if (status === 400) mark.id = ''
    failures = openMs >= settledMs ? 1 : failures + 1
    const delayMs = Math.min(LONGEST_DELAY_MS, firstDelayMs * 2 ** (failures - 1))
    // Many consoles are not to come back in the same moment.
    await pause(Math.max(retryAfterMs, delayMs * (0.5 + Math.random() / 2)), closing)
  }
}

/** The id of the last event, and when it came. */
type Mark = { id: string; at: number }

type Ended = {
  readonly status: number
  /** 0 where it was not opened. */
  readonly openMs: number
  readonly retryAfterMs: number
}

async function connect(options: StreamOptions, mark: Mark, closing: AbortSignal): Promise<Ended> {
  const { url, headers = {}, onOpen, onEvents, silentMs = 15_000 } = options
  const isResumed = mark.id !== ''
  const silent = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const heard = () => {
    clearTimeout(timer)
    timer = setTimeout(() => silent.abort(), silentMs)
  }
  let status = 0
  let openedAt: number | undefined
  let retryAfterMs = 0
  heard()
  try {
    const response = await fetch(url, {
      headers: {
        Accept: 'text/event-stream',
        ...(isResumed && { 'Last-Event-ID': mark.id }),
        ...headers,
      },
      signal: AbortSignal.any([closing, silent.signal]),
    })
    status = response.status
    retryAfterMs = (Number(response.headers.get('Retry-After')) || 0) * 1_000
    if (!response.ok || response.body === null) {
      await response.body?.cancel()
      return { status, openMs: 0, retryAfterMs }
    }
    openedAt = performance.now()
    onOpen({ isResumed })
    const read = eventReader()
    const reader = response.body.getReader()
    const decoder = new TextDecoder()
    for (;;) {
      const { value, done } = await reader.read()
      if (done) break
      heard()
      const events = read(decoder.decode(value, { stream: true }))
      const last = events.at(-1)
      if (last === undefined) continue
      mark.at = Date.now()
      if (last.id !== '') mark.id = last.id
      onEvents(events)
    }
  } catch {
    // Broken off, silent, or closed: `run` knows which.
  } finally {
    clearTimeout(timer)
  }
  const openMs = openedAt === undefined ? 0 : performance.now() - openedAt
  return { status, openMs, retryAfterMs }
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
