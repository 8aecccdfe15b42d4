import { unavailable } from '../runtime/errors.ts'
import type { IngestAddresses } from './ingest-addresses.ts'

/** A response of the ingest API, with any status. */
export type IngestAnswer = {
  readonly status: number
  readonly headers: Headers
  /** The body, in the API's envelope. */
  readonly body: object
}

/**
 * Sends JSON to the ingest API with a key.
 * @throws {ApiError} 503 if its address is unknown, if something else answers there, or if there is
 * no response in time.
 */
export async function askIngest(
  { internal }: IngestAddresses,
  path: string,
  {
    secret,
    body,
    requestId,
    headers = {},
    withinMs,
  }: {
    secret: string
    body: unknown
    requestId: string
    headers?: Readonly<Record<string, string>>
    withinMs: number
  },
): Promise<IngestAnswer> {
  if (internal === undefined) {
    throw unavailable('this service does not know where the ingest API is: set INGEST_INTERNAL_URL')
  }
  try {
    const response = await fetch(internal + path, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${secret}`,
        'Content-Type': 'application/json',
        'X-Request-Id': requestId,
        ...headers,
      },
      body: JSON.stringify(body),
      // The key is meant only for the ingest API.
      redirect: 'error',
      signal: AbortSignal.timeout(withinMs),
    })
    const answer = parseEnvelope(await response.text())
    if (answer === undefined) throw new Error('the response is not one of the ingest API')
    return { status: response.status, headers: response.headers, body: answer }
  } catch (error) {
    throw unavailable('the ingest API cannot be reached, please try again', error)
  }
}

/** Parse errors are not passed on: another server might repeat the key in its response. */
function parseEnvelope(text: string): object | undefined {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null && 'success' in body ? body : undefined
  } catch {
    return undefined
  }
}
