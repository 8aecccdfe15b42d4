import { describe, expect, test } from '@jest/globals'
import { TRACKERS } from '../../../console/guides/lorawan.ts'
import { bearer } from '../../ingest-api/apps/app-requests.ts'
import { ingestForAllTests, type IngestHarness } from '../../ingest-api/ingest-harness.ts'
import { T0 } from '../../samples.ts'

let ingest: IngestHarness
ingestForAllTests((given) => ({ ingest } = given))

const time = new Date(T0).toISOString()
const SERVERS: Readonly<Record<string, (payload: object) => object>> = {
  'the-things-stack': (payload) => ({
    end_device_ids: { dev_eui: 'A84041FFFF000092' },
    uplink_message: { received_at: time, f_port: 2, decoded_payload: payload },
  }),
  chirpstack: (payload) => ({
    deviceInfo: { devEui: 'A84041FFFF000092' },
    time,
    fPort: 2,
    object: payload,
  }),
}

/** Values of a payload under our names; a payload with other values has none of these names. */
const VALUES = { altitude: 180, battery: 0.8, speed: 10, heading: 90 }

describe.each(Object.entries(SERVERS))('through %s', (server, message) => {
  test.each(TRACKERS.map(({ name, payload }) => [name, payload] as const))(
    'the payload that a guide shows of a %s is stored as a position',
    async (_, payload) => {
      const { id, secret } = await ingest.createKey()
      const answer = await ingest.request(`/api/v1/senders/${server}`, {
        method: 'POST',
        body: JSON.stringify(message(payload)),
        headers: { ...bearer(secret), 'Content-Type': 'application/json' },
      })
      expect(answer.status).toBe(200)
      const events = (await ingest.logged()).filter(({ keyId }) => keyId === id)
      expect(events).toMatchObject([
        { deviceId: 'A84041FFFF000092', latitude: 48.2082, longitude: 16.3738, timestamp: T0 },
      ])
      const found: Readonly<Record<string, unknown>> = { ...events[0] }
      for (const [name, value] of Object.entries(VALUES)) {
        if (found[name] !== undefined) expect([name, found[name]]).toEqual([name, value])
      }
      expect(events[0]!.attributes ?? {}).not.toHaveProperty('latitude')
    },
  )
})
