export type OpenStreamOptions = {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  /**
   * `isResumed`: the stream continues after the last event, so that no event with a mark was
   * missed.
   */
  readonly onOpen: (opening: { readonly isResumed: boolean }) => void
  /** Called with the events that arrived together, in order. */
  readonly onEvents: (events: readonly StreamEvent[]) => void
  /** The connection was lost or refused, with this status (0: no response); it is retried. */
  readonly onLost: (status: number) => void
  /** Called after a 401; resolves with whether to continue. */
  readonly onUnauthorized: () => Promise<boolean>
  /** Statuses after which the stream is not retried. */
  readonly final?: readonly number[]
  /**
   * The id of the event after which the stream resumes; without it, the stream starts with new
   * events.
   */
  readonly resumeAfter?: string | undefined
  /** A mark older than this is not used: replaying the events since then costs more than a list. */
  readonly resumeMs?: number
  /** Without any data for this long the connection counts as lost: a heartbeat comes every 4 s. */
  readonly silentMs?: number
  readonly firstDelayMs?: number
  /** A connection counts as a success once it has lasted this long: until then the delays grow. */
  readonly settledMs?: number
}

export const RESUME_MS = 60_000

const LONGEST_DELAY_MS = 30_000

/**
 * Reads an event stream until `close` is called, and reopens it whenever it ends. Unlike
 * EventSource it also recovers from a 429 or 503, obeys Retry-After, notices a connection that has
 * died silently, and can send a header.
 */
export function openStream(options: OpenStreamOptions): { close(): void } {
  const closing = new AbortController()
  run(options, closing.signal).catch(() => undefined)
  return { close: () => closing.abort() }
}

async function run(options: OpenStreamOptions, closing: AbortSignal): Promise<void> {
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
    // The service rejects this mark.
    if (status === 400) mark.id = ''
    failures = openMs >= settledMs ? 1 : failures + 1
    const delayMs = Math.min(LONGEST_DELAY_MS, firstDelayMs * 2 ** (failures - 1))
    // Spreads the load, so that many consoles do not return at the same moment.
    await pause(Math.max(retryAfterMs, delayMs * (0.5 + Math.random() / 2)), closing)
  }
}

/** The id of the last event, and when it arrived. */
type Mark = { id: string; at: number }

type ConnectionEnd = {
  readonly status: number
  /** 0 if the stream was not opened. */
  readonly openMs: number
  readonly retryAfterMs: number
}

async function connect(
  options: OpenStreamOptions,
  mark: Mark,
  closing: AbortSignal,
): Promise<ConnectionEnd> {
  const { url, headers = {}, onOpen, onEvents, silentMs = 15_000 } = options
  const isResumed = mark.id !== ''
  const silent = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const restartWatchdog = () => {
    clearTimeout(timer)
    timer = setTimeout(() => silent.abort(), silentMs)
  }
  let status = 0
  let openedAt: number | undefined
  let retryAfterMs = 0
  restartWatchdog()
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
      restartWatchdog()
      const events = read(decoder.decode(value, { stream: true }))
      const last = events.at(-1)
      if (last === undefined) continue
      mark.at = Date.now()
      if (last.id !== '') mark.id = last.id
      onEvents(events)
    }
  } catch {
    // Interrupted, silent, or closed: `run` decides which.
  } finally {
    clearTimeout(timer)
  }
  const openMs = openedAt === undefined ? 0 : performance.now() - openedAt
  return { status, openMs, retryAfterMs }
}

function pause(ms: number, closing: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      closing.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    closing.addEventListener('abort', end)
  })
}

/** An event of a stream (WHATWG HTML section 9.2). */
export type StreamEvent = { readonly name: string; readonly data: string; readonly id: string }

/**
 * Takes the text of an event stream as it arrives, in chunks of any size, and returns the complete
 * events.
 */
export function eventReader(): (text: string) => StreamEvent[] {
  let whole: StreamEvent[] = []
  let rest = ''
  let name = ''
  let id = ''
  let data: string[] = []

  function readLine(line: string): void {
    if (line === '') {
      if (data.length > 0) {
        whole.push({ name: name === '' ? 'message' : name, data: data.join('\n'), id })
      }
      name = ''
      data = []
      return
    }
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'event') name = value
    else if (field === 'data') data.push(value)
    else if (field === 'id' && !value.includes('\0')) id = value
  }

  return (text) => {
    whole = []
    const lines = (rest + text).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    for (const line of lines) readLine(line)
    return whole
  }
}
