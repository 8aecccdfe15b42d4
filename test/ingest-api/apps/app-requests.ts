import { T0 } from '../../samples.ts'
import type { Answer, IngestHarness } from '../ingest-harness.ts'

export const OSMAND = '/api/v1/senders/osmand'
export const OWNTRACKS = '/api/v1/senders/owntracks'
export const OVERLAND = '/api/v1/senders/overland'

/** One point a second, so that each makes a new record. */
let points = 0
export const now = () => Math.floor(T0 / 1000) + (points += 1)

/** A point of OsmAnd. */
export const query = (more = '') => `id=van&lat=54.3&lon=10.1&timestamp=${now()}${more}`
/** A point of OwnTracks. */
export const location = (more: object = {}) =>
  JSON.stringify({ _type: 'location', tid: 'JJ', lat: 54.3, lon: 10.1, tst: now(), ...more })
/** A point of Overland. */
export const feature = (latitude: unknown = 54.3, device = 'van') => ({
  type: 'Feature',
  geometry: { type: 'Point', coordinates: [10.1, latitude] },
  properties: { device_id: device, timestamp: new Date(now() * 1000).toISOString() },
})
export const batch = (...locations: unknown[]) => JSON.stringify({ locations })

export const bearer = (secret: string) => ({ Authorization: `Bearer ${secret}` })

export function post(
  ingest: IngestHarness,
  path: string,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const sent = body as NonNullable<RequestInit['body']>
  return ingest.request(path, { method: 'POST', body: sent, headers })
}

/** The devices of a key's positions in the log. */
export async function devicesOf(ingest: IngestHarness, keyId: string): Promise<string[]> {
  const events = await ingest.logged()
  return events.filter((event) => event.keyId === keyId).map(({ deviceId }) => deviceId)
}
