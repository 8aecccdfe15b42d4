import { readAnswer, type ServiceAnswer } from './answer.ts'

/** The part of `fetch` that is used here. */
export type Fetch = (
  url: string,
  init: {
    readonly method: string
    readonly headers: Record<string, string>
    readonly body: string
    readonly redirect: 'manual'
    readonly signal: AbortSignal
  },
) => Promise<Parameters<typeof readAnswer>[0]>

export type Target = {
  /** The URL of the ingest API, for example `https://gps.example.org`. */
  readonly url: string | URL
  readonly key: string
  /** Replaces the global `fetch`. */
  readonly fetch?: Fetch | undefined
  /** How long to wait for a response; after that the request counts as failed. Default 30 s. */
  readonly timeoutMs?: number | undefined
}

/** The response to one request, or a short name for the reason why there was none. */
export type Attempt = ServiceAnswer | { readonly unanswered: string }

/** Sends a body once. Never rejects. */
export async function post(
  { url, key, fetch = globalThis.fetch, timeoutMs = 30_000 }: Target,
  {
    path,
    body,
    idempotencyKey,
    signal,
  }: {
    path: string
    body: string
    idempotencyKey?: string | undefined
    signal: AbortSignal
  },
): Promise<Attempt> {
  const ending = new AbortController()
  const abort = () => ending.abort()
  const timer = setTimeout(abort, timeoutMs)
  // Not AbortSignal.any(): it keeps every request of a long-lived signal in memory (Node 20).
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()
  try {
    const response = await fetch(`${String(url).replace(/\/+$/, '')}${path}`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${key}`,
        'Content-Type': 'application/json',
        ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
      },
      body,
      // A followed redirect would become a GET without a body, and its response would count as a
      // success.
      redirect: 'manual',
      signal: ending.signal,
    })
    return await readAnswer(response)
  } catch (error) {
    return { unanswered: ending.signal.aborted && !signal.aborted ? 'TIMEOUT' : reason(error) }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
  }
}

/** A short name for a network error, which `fetch` wraps. */
function reason(error: unknown): string {
  const { cause } = Object(error) as { readonly cause?: unknown }
  const { code, name, message } = Object(cause ?? error) as {
    readonly code?: unknown
    readonly name?: unknown
    readonly message?: unknown
  }
  // Ports of other protocols: https://fetch.spec.whatwg.org/#port-blocking
  if (message === 'bad port') return 'BAD_PORT'
  return [code, name].find((text) => typeof text === 'string') ?? 'no response'
}
