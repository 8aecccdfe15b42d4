import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import {
  bearer,
  batch,
  devicesOf,
  feature,
  location,
  OSMAND,
  OVERLAND,
  OWNTRACKS,
  post,
} from './apps/app-requests.ts'
import { rejectionsOf } from './apps/rejections-of.ts'
import { ingestForAllTests, type IngestHarness } from './ingest-harness.ts'

let ingest: IngestHarness
ingestForAllTests((given) => ({ ingest } = given))

const TIMED = '"timestamp":"2026-01-01T00:00:00Z"'
const NATIVE = `{"deviceId":"van","latitude":1,"longitude":2,${TIMED}}`
const TRACCAR = `{"device_id":"van","location":{${TIMED},"coords":{"latitude":1,"longitude":2}}}`

test.each<[string, string, string, string?]>([
  ['a report', '/api/v1/gps/submit', NATIVE],
  ['a batch', '/api/v1/gps/batch', `{"reports":[${NATIVE}]}`],
  ['an import', '/api/v1/gps/import', `{"reports":[${NATIVE}]}`],
  ['OwnTracks', OWNTRACKS, location({ topic: 'owntracks/jane/van' })],
  ['Overland', OVERLAND, batch(feature())],
  ['a form', OSMAND, 'id=van&lat=1&lon=2', 'application/x-www-form-urlencoded'],
  ['Traccar Client', OSMAND, TRACCAR],
  // Some custom URLs set no media type.
  ['JSON without a media type', OSMAND, TRACCAR, ''],
])(
  'a byte order mark before the body is skipped: %s',
  async (_, path, body, mediaType = 'application/json') => {
    const { id, secret } = await ingest.createKey({
      scopes: ['positions:write', 'positions:import'],
    })
    const headers = { ...bearer(secret), 'Content-Type': mediaType }
    expect((await post(ingest, path, Buffer.from(`\ufeff${body}`), headers)).status).toBe(200)
    expect(await devicesOf(ingest, id)).toEqual([expect.stringMatching(/^(?:jane\/)?van$/)])
    expect(await rejectionsOf(ingest, id)).toEqual([])
  },
)

test('a file saved by Windows with a byte order mark is stored', async () => {
  const { id, secret } = await ingest.createKey()
  const body = readFileSync(new URL('../fixtures/senders/bom-ov.json', import.meta.url))
  ingest.clock.time = Date.UTC(2026, 10, 25, 11)
  expect((await post(ingest, OVERLAND, body, bearer(secret))).status).toBe(200)
  expect(await devicesOf(ingest, id)).toEqual(['bom-ov'])
})

test('a byte order mark elsewhere, or a second one, is an error', async () => {
  const { secret } = await ingest.createKey()
  for (const body of [`\ufeff\ufeff${NATIVE}`, `{\ufeff"deviceId":"van"}`]) {
    expect((await ingest.submit(body, { key: secret })).status).toBe(400)
  }
})
