import { Pool } from 'undici'

/** How a request was answered; `retryAfterMs` where the answer named a time to wait. */
export type Answer = {
  readonly status: number
  readonly recordId?: string
  /** The error identifier of the envelope; of no use in a 200. */
  readonly error: string
  readonly retryAfterMs?: number
}

export type Service = {
  /** Submits a report (JSON text). Rejects when there was no answer. */
  submit(body: string): Promise<Answer>
  /** Asks for a record. Rejects when there was no answer. */
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
  /** Aborted: requests that are under way are cut. */
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

/** Something else than the service may answer, a proxy for one: nothing is taken for granted. */
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
