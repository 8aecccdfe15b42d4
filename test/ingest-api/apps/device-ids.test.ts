import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { ingestForAllTests, type IngestHarness } from '../ingest-harness.ts'
import { bearer, devicesOf, OVERLAND, OWNTRACKS, post } from './app-requests.ts'
import { rejectionsOf } from './rejections-of.ts'

let ingest: IngestHarness
ingestForAllTests((given) => ({ ingest } = given))

const FAULT =
  'the device’s id is a number beyond 2⁵³, of which JSON keeps only the first digits: send it as a text'
const TWO_SIMS = readFileSync(
  new URL('../../fixtures/senders/overland-numeric-ids.json', import.meta.url),
  'utf8',
)
const PLACE = '"latitude":54.3,"longitude":10.1'

/** A request of each app whose ids can be JSON numbers, around an id. */
const REQUESTS: [string, string, (id: string) => string][] = [
  [
    'Overland',
    OVERLAND,
    (id) =>
      `{"locations":[{"geometry":{"coordinates":[10.1,54.3]},"properties":{"timestamp":"2026-01-01T00:00:00Z","device_id":${id}}}]}`,
  ],
  [
    'Overland, in the envelope',
    OVERLAND,
    (id) =>
      `{"device_id":${id},"locations":[{"geometry":{"coordinates":[10.1,54.3]},"properties":{"timestamp":"2026-01-01T00:00:00Z"}}]}`,
  ],
  [
    'OwnTracks',
    OWNTRACKS,
    (id) => `{"_type":"location","tst":1767225600,"lat":1,"lon":2,"tid":${id}}`,
  ],
  [
    'Traccar Client',
    '/api/v1/senders/traccar',
    (id) => `{"device_id":${id},"location":{"timestamp":"2026-01-01T00:00:00Z",${PLACE}}}`,
  ],
  ['a heartbeat of Traccar Client', '/api/v1/senders/traccar', (id) => `{"device_id":${id}}`],
  [
    'a Traccar server',
    '/api/v1/senders/traccar-forward',
    (id) => `{"device":{"uniqueId":${id}},"position":{"fixTime":"2026-01-01T00:00:00Z",${PLACE}}}`,
  ],
  [
    'The Things Stack',
    '/api/v1/senders/the-things-stack',
    (id) =>
      `{"end_device_ids":{"dev_eui":${id}},"received_at":"2026-01-01T00:00:00Z","uplink_message":{"decoded_payload":{${PLACE}}}}`,
  ],
  [
    'ChirpStack',
    '/api/v1/senders/chirpstack',
    (id) => `{"deviceInfo":{"devEui":${id}},"time":"2026-01-01T00:00:00Z","object":{${PLACE}}}`,
  ],
]

describe('ids that are numbers', () => {
  test.each(REQUESTS)(
    '%s: a number beyond 2⁵³ is rejected, and its digits are kept',
    async (_, path, body) => {
      const { id, secret } = await ingest.createKey()
      const sent = body('9007199254740993')
      expect((await post(ingest, path, sent, json(secret))).status).toBe(200)
      expect(await rejectionsOf(ingest, id)).toMatchObject([
        { error: 'INVALID_PARAMS', message: FAULT, body: sent },
      ])
      expect(await devicesOf(ingest, id)).toEqual([])
    },
  )

  test('two SIM cards whose numbers differ in the last digit never become one device', async () => {
    const { id, secret } = await ingest.createKey()
    expect((await post(ingest, OVERLAND, TWO_SIMS, json(secret))).status).toBe(200)
    const rejected = await rejectionsOf(ingest, id)
    expect(rejected.map(({ message }) => message)).toEqual([FAULT, FAULT])
    expect(rejected.filter(({ deviceId }) => deviceId !== undefined)).toEqual([])
    expect(await devicesOf(ingest, id)).toEqual([])
  })

  test('a number up to 2⁵³, and any number in a string, is an id', async () => {
    const { id, secret } = await ingest.createKey()
    const [, path, body] = REQUESTS[0]!
    for (const sent of ['9007199254740991', '"89490200001234567890"']) {
      expect((await post(ingest, path, body(sent), json(secret))).status).toBe(200)
    }
    expect(await devicesOf(ingest, id)).toEqual(['9007199254740991', '89490200001234567890'])
  })
})

function json(secret: string) {
  return { ...bearer(secret), 'Content-Type': 'application/json' }
}
