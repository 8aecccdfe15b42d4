import { describe, expect, test } from '@jest/globals'
import { toEntry, toErasureMessage, toMessage } from '../../event-log/kafka/event-format.ts'
import { recordMessage } from '../../event-log/kafka/topic.ts'
import { REJECTIONS } from '../../event-log/topic.ts'
import { DEVICE_SEEN_AVRO } from '../../schemas/events/avro-schemas.ts'
import { decodeDeviceSeen } from '../../schemas/events/device-seen.ts'
import { deviceErased, deviceSeen, positionReported, reportRejected } from '../samples.ts'
import { checkerOf, document, expectEnvelope } from './asyncapi-document.ts'

const { schemas, messages } = document.components
const TELEMETRY = { battery: 0.42, attributes: { ignition: true, hdop: 1.5, event: 'parked' } }

describe('a heartbeat in the AsyncAPI document', () => {
  test('the documented heartbeat matches the written message: key, headers, value', () => {
    const message = toMessage(deviceSeen({ deviceId: 'a/b', ...TELEMETRY }))
    expectEnvelope(message, messages.deviceSeenJson)
    const value = JSON.parse(String(message.value)) as object
    expect(checkerOf(schemas.deviceSeen)(value)).toEqual([])
    expect(Object.keys(value)).toEqual(Object.keys(schemas.deviceSeen.properties ?? {}))
  })

  test('a heartbeat that waited in a spool is marked', () => {
    const message = toMessage(deviceSeen(), { spooled: true })
    expectEnvelope(message, messages.deviceSeenJson)
    expect(message.headers).toMatchObject({ ce_spooled: 'true' })
  })

  test('only heartbeats have the header that identifies them to programs that see only header names', () => {
    expect(toMessage(deviceSeen()).headers).toMatchObject({ ce_heartbeat: 'true' })
    expect(messages.deviceSeenJson.examples[0]!.headers).toMatchObject({ ce_heartbeat: 'true' })
    for (const { headers } of [
      toMessage(positionReported(), { spooled: true }),
      toErasureMessage(deviceErased()),
      recordMessage(REJECTIONS.toRecord(reportRejected())),
    ]) {
      expect(headers).not.toHaveProperty('ce_heartbeat')
    }
  })

  test('the code can read the example of a heartbeat', async () => {
    const [example] = messages.deviceSeenJson.examples
    expect(checkerOf(schemas.heartbeatHeaders)(example!.headers)).toEqual([])
    expect(checkerOf(schemas.deviceSeen)(example!.payload)).toEqual([])
    const value = Buffer.from(JSON.stringify(example!.payload))
    const headers = example!.headers ?? {}
    expect(await toEntry({ key: null, value, headers, offset: '0' }, 0)).toMatchObject({
      kind: 'seen',
      event: {
        eventId: headers['ce_id'],
        deviceId: 'tracker-1',
        battery: 0.42,
        attributes: { ignition: true },
      },
    })
  })

  test('a heartbeat requires the fields and headers that the code needs', () => {
    const { headers = {}, value } = toMessage(deviceSeen())
    const fields = JSON.parse(String(value)) as object
    const id = String(headers['ce_id'])
    for (const name of Object.keys(fields)) {
      expect(schemas.deviceSeen.required).toContain(name)
      const without = JSON.stringify({ ...fields, [name]: undefined })
      expect(() => decodeDeviceSeen(without, id)).toThrow(name)
    }
    expect(schemas.heartbeatHeaders.required).toContain('ce_id')
    expect(() => decodeDeviceSeen(JSON.stringify(fields), undefined)).toThrow('eventId')
  })

  test('a heartbeat has the Avro schema that the code registers', () => {
    expect(messages.deviceSeenAvro.payload.schema).toEqual(DEVICE_SEEN_AVRO)
  })

  test('a heartbeat of an earlier version, without telemetry, is read as before', async () => {
    const event = deviceSeen()
    const value = Buffer.from(
      JSON.stringify({
        accountId: event.accountId,
        deviceId: event.deviceId,
        keyId: event.keyId,
        receivedAt: new Date(event.receivedAt).toISOString(),
      }),
    )
    const headers = { ce_type: 'DeviceSeen.v1', ce_id: event.eventId }
    const entry = await toEntry({ key: null, value, headers, offset: '0' }, 0)
    expect(entry).toMatchObject({ kind: 'seen' })
    expect('event' in entry && entry.event).toEqual(event)
    expect(toMessage(event).value).toBe(value.toString())
  })

  test.each([
    ['battery', { battery: 2 }],
    ['battery', { battery: '0.5' }],
    ['attributes', { attributes: [] }],
    ['attributes', { attributes: { nested: {} } }],
  ])('a heartbeat with invalid telemetry is unreadable: %s, %j', (name, telemetry) => {
    const { headers = {}, value } = toMessage(deviceSeen())
    const json = JSON.stringify({ ...(JSON.parse(String(value)) as object), ...telemetry })
    expect(() => decodeDeviceSeen(json, String(headers['ce_id']))).toThrow(name)
  })
})
