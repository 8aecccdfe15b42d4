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
  const NEW = 'a device without a position so far has sent a message without one'

  test.each<[string, string, () => string, string[]]>([
    ...['lwt', 'status', 'card', 'waypoint', 'waypoints', 'cmd'].map(
      (type): [string, string, () => string, string[]] => [
        `OwnTracks’ ${type}, which says nothing of its tracker`,
        OWNTRACKS,
        () => `{"_type":"${type}","tst":1,"topic":"owntracks/jane/phone"}`,
        [],
      ],
    ),
    [
      'OwnTracks’ transition',
      OWNTRACKS,
      () => location({ _type: 'transition', topic: 'owntracks/jane/phone/event' }),
      [`owntracks: ${NEW}`],
    ],
  ])(
    'a request without a position is a heartbeat of the device, and a rejection if it has had none: %s',
    async (_, path, body, messages) => {
      const { id, secret } = await ingest.createKeyOfNewAccount()
      expect((await post(ingest, path, body(), bearer(secret))).status).toBe(200)
      expect(await heartbeatsOf(id)).toEqual(['jane/phone'])
      expect(await devicesOf(ingest, id)).toEqual([])
      const rejected = await rejectionsOf(ingest, id)
      expect(rejected.map(({ message }) => message)).toEqual(messages)
    },
  )

  test('a request with a device’s position is not a heartbeat of that device, nor of a fallback device that the key does not allow', async () => {
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

describe('a request that is neither position nor heartbeat', () => {
  test.each<[string, string, string]>([
    [
      'the message has neither a device nor a position, and the key is for several devices',
      OWNTRACKS,
      '{"_type":"cmd"}',
    ],
    [
      'the body must be {"device_id":"…","location":{…}}',
      OSMAND,
      '{"deviceId":"van","latitude":1,"longitude":2}',
    ],
    [
      'lat and lon are missing: latitude is not recognised as either',
      OSMAND,
      'id=van&latitude=1&longitude=2',
    ],
    [
      'lat and lon are missing: lng is not recognised as either',
      '/log/gpslogger/:key/van',
      'lat=&lng=2',
    ],
    [
      'the body must be {"position":{…},"device":{…}}: set forward.type to json',
      '/api/v1/senders/traccar-forward',
      '{"deviceId":"van"}',
    ],
    [
      'this is not a message of The Things Stack: end_device_ids is missing',
      '/api/v1/senders/the-things-stack',
      '{"deviceInfo":{}}',
    ],
    [
      'this is not an event of ChirpStack 4: deviceInfo is missing',
      '/api/v1/senders/chirpstack',
      '{"devEUI":"AQ==","object":{"latitude":1,"longitude":2}}',
    ],
  ])('gets a 200 and a rejection: %s', async (message, path, body) => {
    const { id, secret } = await ingest.createKey({ deviceIds: ['van', 'tug'] })
    const answer = await fetch(ingest.url + path.replace(':key', secret), {
      method: 'POST',
      body,
      headers: bearer(secret),
    })
    expect(answer.status).toBe(200)
    expect(await rejectionsOf(ingest, id)).toMatchObject([
      { error: 'INVALID_PARAMS', message, body: expect.any(String) },
    ])
    expect(await heartbeatsOf(id)).toEqual([])
  })
})

async function heartbeatsOf(keyId: string): Promise<string[]> {
  return (await ingest.heartbeatsOf(keyId)).map(({ deviceId }) => deviceId)
}
