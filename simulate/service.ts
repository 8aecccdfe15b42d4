import { Pool } from 'undici'

/** An answer; `retryAfterMs` if it has a `Retry-After`. */
export type Answer = {
  readonly status: number
  readonly recordId?: string
  /** The error identifier of the envelope; meaningless with a 200. */
  readonly error: string
  readonly retryAfterMs?: number
}

export type Service = {
  /** Submits a report (JSON text). Rejects if there is no answer. */
  submit(body: string): Promise<Answer>
  /** Reads a record. Rejects if there is no answer. */
  readRecord(recordId: string): Promise<Answer>
  close(): Promise<void>
}

/** The service at a base URL (ingest or admin API) over kept-alive connections. */
export function connectService({
  url,
  key,
  connections,
  signal,
  timeoutMs = 10_000,
}: {
  url: URL
  key: string
  connections: number
  /** Aborts requests in flight. */
  signal: AbortSignal
  timeoutMs?: number
}): Service {
  const pool = new Pool(url.origin, {
    connections,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect: { timeout: timeoutMs },
  })
  const base = url.pathname.replace(/\/+$/, '')
  const authorization = `Bearer ${key}`

  async function answer(request: { method: 'GET' | 'POST'; path: string; body?: string }) {
    const { path, ...options } = request
    const response = await pool.request({
      ...options,
      path: `${base}${path}`,
      headers: {
        authorization,
        ...(options.body !== undefined && { 'content-type': 'application/json' }),
      },
      signal,
    })
    const envelope = readEnvelope(await response.body.text())
    return {
      status: response.statusCode,
      error: envelope.error ?? `HTTP ${response.statusCode}`,
      ...(envelope.recordId !== undefined && { recordId: envelope.recordId }),
      ...retryAfter(response.headers['retry-after']),
    }
  }

  return {
    submit: (body) => answer({ method: 'POST', path: '/api/v1/gps/submit', body }),
    readRecord: (recordId) =>
      answer({ method: 'GET', path: `/api/v1/positions/${encodeURIComponent(recordId)}` }),
    close: () => (signal.aborted ? pool.destroy() : pool.close()),
  }
}

/** Checks everything: the answer may be from something else, such as a proxy. */
function readEnvelope(text: string): { recordId?: string; error?: string } {
  let envelope: unknown
  try {
    envelope = JSON.parse(text)
  } catch {
    return {}
  }
  const error = property(envelope, 'error')
  const recordId = property(property(envelope, 'data'), 'recordId')
  return {
    ...(typeof error === 'string' && { error }),
    ...(typeof recordId === 'string' && { recordId }),
  }
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Record<string, unknown>)[name]
    : undefined
}

/** Seconds or a date (RFC 9110, section 10.2.3). */
function retryAfter(value: string | string[] | undefined): { retryAfterMs?: number } {
  if (typeof value !== 'string') return {}
  const waitMs = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isNaN(waitMs) ? {} : { retryAfterMs: Math.max(0, waitMs) }
}
