import { expect, test } from '@jest/globals'
import type { IHeaders, KafkaMessage } from 'kafkajs'
import { readEvent, type Schemas } from '../../../../docs/examples/consumer/read-event.ts'
import { toFactMessage } from '../../../../event-log/kafka/fact-topic.ts'
import { toErasureMessage, toMessage } from '../../../../event-log/kafka/event-format.ts'
import type { AppendedEvent } from '../../../../schemas/events/appended-event.ts'
import type { PositionReported } from '../../../../schemas/events/position-reported.ts'
import { deviceErased, deviceSeen, positionReported } from '../../../samples.ts'
import { factsOfAllTypes } from '../../../schemas/facts-samples.ts'

const AVRO_VALUE = Buffer.from([0, 0, 0, 0, 7, 1, 2, 3])

test('a position in JSON is read without unknown fields', async () => {
  const attributes = { alarm: 'sos', odometer: 12.5 }
  const event = positionReported({ speed: 3.5, battery: 0, attributes, imported: true })
  const { value, headers } = written(event)
  const newer = { ...(JSON.parse(String(value)) as object), satellites: 9, altitude: null }
  const message = { key: null, headers, value: Buffer.from(JSON.stringify(newer)) }
  expect(await readEvent(message, undefined)).toEqual({
    kind: 'position',
    id: event.recordId,
    position: known(event),
    spooled: false,
  })
  expect(
    await readEvent({ key: null, ...written(event, { spooled: true }) }, undefined),
  ).toMatchObject({ id: event.recordId, spooled: true })
})

test('a heartbeat is read, in JSON and in Avro', async () => {
  const { accountId, deviceId, receivedAt, ...rest } = deviceSeen({ deviceId: 'vän/2' })
  const heartbeat = { accountId, deviceId, receivedAt }
  const json = written({ ...heartbeat, ...rest }, { spooled: true })
  expect(await readEvent({ key: null, ...json }, undefined)).toEqual({
    kind: 'heartbeat',
    heartbeat,
    spooled: true,
  })
  const schemas = { getSchema: async () => ({ fromBuffer: () => ({ ...heartbeat, keyId: 'k' }) }) }
  const avro = { key: null, headers: json.headers, value: AVRO_VALUE }
  expect(await readEvent(avro, schemas)).toMatchObject({ kind: 'heartbeat', heartbeat })
  const faulty = { ...json, key: null, value: Buffer.from('{"accountId":"acc-1"}') }
  expect(await reasonFor(faulty)).toContain('deviceId')
})

test('a fact is read, with all its fields', async () => {
  for (const fact of factsOfAllTypes({ deviceId: 'vän/2' })) {
    const { value, headers = {} } = toFactMessage(fact)
    const message = { key: null, headers: inBytes(headers), value: Buffer.from(value!) }
    const expected = JSON.parse(String(value)) as object
    expect(await readEvent(message, undefined)).toEqual({ kind: 'fact', fact: expected })
    for (const damaged of ['{}', 'null', '{"id":']) {
      expect(await reasonFor({ ...message, value: Buffer.from(damaged) })).toMatch(/\w/)
    }
    expect(await reasonFor({ ...message, value: null })).toContain(fact.type)
  }
})

test('an erasure is read from its key and headers', async () => {
  const event = deviceErased({ deviceId: 'vän/2' })
  expect(await readEvent(erased(event), undefined)).toEqual({ kind: 'erasure', erasure: event })
})

test.each([
  ['with a value', { value: Buffer.from('{}') }],
  ['without a key', { key: null }],
  ['of no device', { key: Buffer.from('acc-1/') }],
  ['without an id', { headers: { ...erased().headers, ce_id: undefined } }],
  ['without a time', { headers: { ...erased().headers, ce_time: undefined } }],
])('an erasure %s is skipped', async (_, changes) => {
  expect(await reasonFor({ ...erased(), ...changes })).toMatch(/\w/)
})

test('an unknown type is skipped with any value', async () => {
  const headers = { ce_type: Buffer.from('DeviceErased.v2'), ce_id: Buffer.from('1') }
  expect(await reasonFor({ headers, value: null })).toContain('DeviceErased.v2')
  expect(await reasonFor({ headers, value: Buffer.from('{}') })).toContain('DeviceErased.v2')
  expect(await reasonFor({ value: Buffer.from('{}') })).toContain('nothing')
})

test.each([
  ['null', null],
  ['no JSON', 'hello'],
  ['cut short', '{"recordId":'],
  ['JSON null', 'null'],
  ['an empty value', ''],
  ['a value without fields', '{}'],
  ['a coordinate in quotes', JSON.stringify({ ...plain(), latitude: '52' })],
  ['no time', JSON.stringify({ ...plain(), receivedAt: 'soon' })],
  ['Avro that ends before its schema id', '\0\0'],
])('%s is skipped', async (_, value) => {
  const { headers } = written(positionReported())
  const skipped = { kind: 'skipped', reason: expect.any(String) }
  const bytes = value === null ? null : Buffer.from(value)
  expect(await readEvent({ key: null, headers, value: bytes }, registry(plain()))).toEqual(skipped)
})

test('Avro is read with the schema that it names, omitting nulls', async () => {
  const event = positionReported({ heading: 90 })
  const { headers } = written(event)
  const read = await readEvent(
    { key: null, headers, value: AVRO_VALUE },
    registry({ ...event, altitude: null, attributes: null, imported: null }),
  )
  expect(read).toMatchObject({
    kind: 'position',
    position: { heading: 90, timestamp: event.timestamp },
  })
  for (const name of ['altitude', 'attributes', 'imported']) {
    expect(read).not.toHaveProperty(['position', name])
  }
})

test('Avro is skipped without a registry, and if the registry does not know the schema', async () => {
  const { headers } = written(positionReported())
  const message = { headers, value: AVRO_VALUE }
  expect(await reasonFor(message)).toContain('--registry')
  expect(await reasonFor(message, failing(404))).toContain('schema 7')
})

test('nothing is skipped while the registry does not respond', async () => {
  const { headers } = written(positionReported())
  const reading = readEvent({ key: null, headers, value: AVRO_VALUE }, failing(503))
  await expect(reading).rejects.toThrow('no response')
})

/** The fields of an event that the program reads. */
function known({ keyId: _keyId, timestampSource: _source, ...position }: PositionReported) {
  return position
}

function plain() {
  const { timestamp, receivedAt, ...event } = positionReported()
  const time = (milliseconds: number) => new Date(milliseconds).toISOString()
  return { ...event, timestamp: time(timestamp), receivedAt: time(receivedAt) }
}

/** The message as the service writes it and a consumer gets it: header values are bytes. */
function written(event: AppendedEvent, options: { spooled?: boolean } = {}) {
  const { value, headers = {} } = toMessage(event, options)
  return { value: Buffer.from(value!), headers: inBytes(headers) }
}

function erased(event = deviceErased()) {
  const { key, headers = {} } = toErasureMessage(event)
  return { key: Buffer.from(key!), value: null, headers: inBytes(headers) }
}

function inBytes(headers: IHeaders): IHeaders {
  return Object.fromEntries(
    Object.entries(headers).map(([name, text]) => [name, Buffer.from(String(text))]),
  )
}

async function reasonFor(
  message: Partial<KafkaMessage> & Pick<KafkaMessage, 'value'>,
  schemas?: Schemas,
) {
  const read = await readEvent({ key: null, headers: {}, ...message }, schemas)
  return read.kind === 'skipped' ? read.reason : undefined
}

function registry(decoded: object): Schemas {
  return { getSchema: async () => ({ fromBuffer: () => decoded }) }
}

function failing(status: number): Schemas {
  return {
    async getSchema() {
      throw Object.assign(new Error('no response'), { status })
    },
  }
}
