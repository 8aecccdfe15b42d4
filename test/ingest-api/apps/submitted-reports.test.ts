import { describe, expect, test } from '@jest/globals'
import { ingestForAllTests, type IngestHarness } from '../ingest-harness.ts'
import { rejectionsOf } from './rejections-of.ts'
import {
  batch,
  bearer,
  devicesOf,
  feature,
  location,
  OSMAND,
  OVERLAND,
  OWNTRACKS,
  post,
} from './app-requests.ts'

let ingest: IngestHarness
ingestForAllTests((given) => ({ ingest } = given))

describe('requests without a position', () => {
  test.each<[string, string, () => string]>([
    [
      'OwnTracks’ last will',
      OWNTRACKS,
      () => '{"_type":"lwt","tst":1,"topic":"owntracks/jane/phone/status"}',
    ],
    [
      'OwnTracks’ transition',
      OWNTRACKS,
      () => location({ _type: 'transition', topic: 'owntracks/jane/phone/event' }),
    ],
    ['OsmAnd without coordinates', OSMAND, () => 'id=jane/phone&batt=5'],
    ['a push token', OSMAND, () => 'id=jane/phone&notificationToken=abc'],
    [
      'an action of Overland',
      OVERLAND,
      () =>
        batch(
          { properties: { device_id: 'jane/phone', action: 'x' } },
          { properties: { device_id: 'jane/phone' } },
        ),
    ],
  ])('a request without a position is a heartbeat of the device: %s', async (_, path, body) => {
    const { id, secret } = await ingest.createKey()
    expect((await post(ingest, path, body(), bearer(secret))).status).toBe(200)
    expect(await heartbeatsOf(id)).toEqual(['jane/phone'])
    expect(await devicesOf(ingest, id)).toEqual([])
    expect(await rejectionsOf(ingest, id)).toEqual([])
  })

  test('a request is no heartbeat of a device next to its position, nor of the fallback device if the key does not allow it', async () => {
    const { id, secret } = await ingest.createKey({ deviceIds: ['van', 'tug'] })
    const action = { properties: { device_id: 'van', action: 'x' } }
    expect((await post(ingest, OVERLAND, batch(feature(), action), bearer(secret))).status).toBe(
      200,
    )
    expect((await post(ingest, OWNTRACKS, '{"_type":"cmd"}', bearer(secret))).status).toBe(200)
    expect(await heartbeatsOf(id)).toEqual([])
    expect(await devicesOf(ingest, id)).toEqual(['van'])
  })
})

/** The devices of a key's heartbeats in the log. */
async function heartbeatsOf(keyId: string): Promise<string[]> {
  const { events } = await ingest.eventLog.lag('nobody')
  const found: string[] = []
  const reading = new AbortController()
  let read = 0
  for await (const item of ingest.eventLog.tail({ after: {}, signal: reading.signal })) {
    if (item.kind !== 'batch') continue
    for (const entry of item.entries) {
      if (entry.kind === 'seen' && entry.event.keyId === keyId) found.push(entry.event.deviceId)
    }
    read += item.entries.length
    if (read >= events) reading.abort()
  }
  return found
}
