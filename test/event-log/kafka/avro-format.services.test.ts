import { randomBytes } from 'node:crypto'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry'
import { expect, test } from '@jest/globals'
import { openAvroFormat } from '../../../event-log/kafka/avro-format.ts'
import { openKafkaEventLog } from '../../../event-log/kafka/kafka-event-log.ts'
import { DEVICE_SEEN_AVRO, POSITION_REPORTED_AVRO } from '../../../schemas/events/avro-schemas.ts'
import { encodePositionReported } from '../../../schemas/events/position-reported.ts'
import { eventFormatContract } from '../../contracts/event-log-contract.ts'
import { closeAfterwards } from '../../closing.ts'
import { eventually } from '../../eventually.ts'
import { deviceSeen, positionReported } from '../../samples.ts'
import { describeWith } from '../../services/describe-with.ts'
import {
  logOptions,
  openKafka,
  openLog,
  putRaw,
  readTopic,
  startReading,
  whenReady,
} from './harness.ts'

await describeWith(['kafka', 'schemaRegistry'], 'Kafka with Avro', ({ kafka, schemaRegistry }) => {
  const { brokers } = kafka

  eventFormatContract('Kafka with Avro', ({ clock, logger }) =>
    openKafka({ brokers, topicPrefix: kafka.topicPrefix, clock, logger, registry: schemaRegistry }),
  )

  test('each schema is registered as the first of its subject, compatible backwards', async () => {
    const { topic } = await open()
    for (const [subject, schema] of [
      [`${topic}-value`, POSITION_REPORTED_AVRO],
      [topic.replace(/position-reported$/, 'device-seen-value'), DEVICE_SEEN_AVRO],
    ] as const) {
      const registered = await get(`/subjects/${subject}/versions/1`)
      expect(JSON.parse(registered['schema'] as string)).toEqual(schema)
      expect(await get(`/config/${subject}`)).toEqual({ compatibilityLevel: 'BACKWARD' })
    }
  })

  test('processes that start together on an empty registry agree on one schema, at most a second later than one after the other', async () => {
    for (let round = 0; round < 3; round += 1) {
      // A busy machine slows the registry down: opening one after the other measures by how much.
      const inTurn = anEmptySubject()
      const began = performance.now()
      for (let process = 0; process < 8; process += 1) await openAvroFormat(inTurn)
      const inTurnMs = performance.now() - began

      const options = anEmptySubject()
      const { subject } = options
      const begin = performance.now()
      const formats = await Promise.all(Array.from({ length: 8 }, () => openAvroFormat(options)))
      expect(performance.now() - begin).toBeLessThan(inTurnMs + 1000)
      const event = positionReported()
      const values = formats.map((format) => format.encode(event))
      expect(new Set(values.map((value) => value.toString('hex'))).size).toBe(1)
      // The registry sometimes registers one schema twice concurrently, under one id.
      const versions = (await get(`/subjects/${subject}/versions`)) as unknown as number[]
      const schemas = await Promise.all(
        versions.map((version) => get(`/subjects/${subject}/versions/${version}/schema`)),
      )
      expect(new Set(schemas.map((schema) => JSON.stringify(schema))).size).toBe(1)
      expect(await get(`/config/${subject}`)).toEqual({ compatibilityLevel: 'BACKWARD' })
    }
  })

  test('a process that ends between registering a schema and setting its compatibility blocks no other', async () => {
    const options = anEmptySubject()
    const { subject } = options
    const registered = await fetch(`${schemaRegistry.url}/subjects/${subject}/versions`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/vnd.schemaregistry.v1+json' },
      body: JSON.stringify({ schema: JSON.stringify(POSITION_REPORTED_AVRO) }),
    })
    expect(registered.status).toBe(200)
    const format = await openAvroFormat(options)
    const { id } = (await registered.json()) as { id: number }
    expect(format.encode(positionReported()).readInt32BE(1)).toBe(id)
    expect(await get(`/config/${subject}`)).toEqual({ compatibilityLevel: 'BACKWARD' })
  })

  test('a compatibility set by an operator stays', async () => {
    const options = anEmptySubject()
    const { subject } = options
    await openAvroFormat(options)
    await fetch(`${schemaRegistry.url}/config/${subject}`, {
      method: 'PUT',
      headers: { 'Content-Type': 'application/vnd.schemaregistry.v1+json' },
      body: JSON.stringify({ compatibility: 'FULL' }),
    })
    await expect(openAvroFormat(options)).rejects.toThrow('FULL')
    expect(await get(`/config/${subject}`)).toEqual({ compatibilityLevel: 'FULL' })
  })

  test('values are in the Confluent wire format, times in milliseconds', async () => {
    const { log, topic } = await open()
    const event = positionReported({ accuracy: 4.5 })
    await log.append([event])
    const [message] = await readTopic(brokers, topic, 1)
    const fields: unknown = await registryClient().decode(message!.value!)
    expect(fields).toMatchObject({ ...event, altitude: null })
    expect(message!.headers?.['content-type']?.toString()).toBe('application/avro')
  })

  test('an Avro value that violates the event’s rules is unreadable', async () => {
    const { log, topic, subject } = await open()
    const registry = registryClient()
    const id = await register(subject, POSITION_REPORTED_AVRO)
    for (const changes of [{ accountId: 'acc/1' }, { recordId: 'record-1' }, { timestamp: -1 }]) {
      const value = await registry.encode(id, { ...positionReported(), ...changes })
      await putRaw(brokers, topic, { key: 'acc-1/tracker-1', value })
    }
    const good = positionReported()
    await log.append([good])
    const reader = startReading(log)
    closeAfterwards(() => reader.stop())
    await eventually(() => reader.entries.length >= 4, { withinMs: 30_000 })
    expect(reader.entries.map(({ kind }) => kind)).toEqual([
      ...Array<string>(3).fill('unreadable'),
      'position',
    ])
  })

  test('JSON, older and newer schemas can be mixed', async () => {
    const { log, topic, subject } = await open()
    const registry = registryClient()
    const events = [0, 1, 2, 3].map(() => positionReported({ speed: 3.25 }))
    const older = await register(subject, {
      ...POSITION_REPORTED_AVRO,
      fields: POSITION_REPORTED_AVRO.fields.filter(({ name }) => name !== 'battery'),
    })
    const newer = await register(subject, withField({ name: 'satellites', type: ['null', 'int'] }))
    const key = 'acc-1/tracker-1'
    const values = [
      await registry.encode(older, events[0]),
      await registry.encode(newer, { ...events[1], satellites: 9 }),
      Buffer.from(encodePositionReported(events[2]!)),
    ]
    for (const value of values) await putRaw(brokers, topic, { key, value })
    await log.append([events[3]!])
    const reader = startReading(log)
    await eventually(() => reader.entries.length >= 4)
    await reader.stop()
    expect(reader.entries.map((entry) => entry.kind === 'position' && entry.event)).toEqual(events)
  })

  test('heartbeats of the schemas before and with telemetry can be mixed', async () => {
    const { log, topic } = await open()
    const subject = topic.replace(/position-reported$/, 'device-seen-value')
    const before = await register(subject, {
      ...DEVICE_SEEN_AVRO,
      fields: DEVICE_SEEN_AVRO.fields.slice(0, 4),
    })
    const telemetry = { battery: 0.42, attributes: { ignition: true, rpm: 800, note: 'parked' } }
    const [older, newer] = [deviceSeen(), deviceSeen(telemetry)]
    await putRaw(brokers, topic, {
      key: 'acc-1/tracker-1',
      value: await registryClient().encode(before, older),
      headers: { ce_type: 'DeviceSeen.v1', ce_id: older.eventId },
    })
    await log.append([newer])
    const reader = startReading(log)
    await eventually(() => reader.entries.length >= 2)
    await reader.stop()
    expect(reader.entries.map((entry) => entry.kind === 'seen' && entry.event)).toEqual([
      older,
      newer,
    ])
  })

  test('truncated Avro, an unknown schema and another event are unreadable', async () => {
    const { log, topic, subject } = await open()
    const registry = registryClient()
    const id = await registry.getLatestSchemaId(subject)
    const good = await registry.encode(id, positionReported())
    const other = await register(`${topic}-other`, {
      type: 'record',
      name: 'Greeting',
      fields: [{ name: 'text', type: 'string' }],
    })
    const unknownSchema = Buffer.from(good)
    unknownSchema.writeInt32BE(2_000_000_000, 1)
    const outOfRange = Buffer.from(good)
    outOfRange.writeDoubleLE(91, good.indexOf(doubleBytes(positionReported().latitude)))
    const values = [
      Buffer.from([0]),
      good.subarray(0, 5),
      good.subarray(0, 40),
      unknownSchema,
      outOfRange,
      await registry.encode(other, { text: 'hello' }),
    ]
    for (const value of values) await putRaw(brokers, topic, { key: 'acc-1/tracker-1', value })
    await putRaw(brokers, topic, { key: 'acc-1/tracker-1', value: good })
    const reader = startReading(log)
    await eventually(() => reader.entries.length > values.length)
    await reader.stop()
    expect(reader.entries.map(({ kind }) => kind)).toEqual([
      ...values.map(() => 'unreadable'),
      'position',
    ])
  })

  test('while the registry is unavailable known schemas are read, and an unknown one waits without a dead letter', async () => {
    const registry = await detour(schemaRegistry.url)
    closeAfterwards(() => registry.close())
    const { log, topic, subject } = await open(registry.url)
    await log.append([positionReported()])
    const newer = await register(subject, withField({ name: 'note', type: ['null', 'string'] }))
    registry.goAway()
    await log.append([positionReported()])
    const before = startReading(log)
    await eventually(() => before.entries.length === 2)
    await before.stop()

    const value = await registryClient().encode(newer, positionReported())
    await putRaw(brokers, topic, { key: 'acc-1/tracker-1', value })
    const reader = startReading(log)
    await eventually(() => registry.refused() >= 2)
    expect(reader.entries.length).toBeLessThan(3)
    registry.comeBack()
    await eventually(() => reader.entries.length === 3)
    expect(reader.entries.map(({ kind }) => kind)).toEqual(['position', 'position', 'position'])
    await reader.stop()
  })

  test('without its registry the log opens, reports that, and is ready once the registry is', async () => {
    const registry = await detour(schemaRegistry.url)
    closeAfterwards(() => registry.close())
    registry.goAway()
    const log = openKafkaEventLog(
      logOptions({ brokers, topicPrefix: aPrefix(), registry: { url: registry.url } }),
    )
    closeAfterwards(() => log.close())
    await eventually(async () => {
      const failure = await log.ready().catch((error: Error) => error)
      return failure?.message.includes('schema registry')
    })
    registry.comeBack()
    await whenReady(log)
    await log.append([positionReported()])
  })

  async function open(url = schemaRegistry.url) {
    const opened = await openLog(kafka, { registry: { url } })
    return { ...opened, subject: `${opened.topic}-value` }
  }

  function anEmptySubject() {
    const subject = `${aPrefix()}.position-reported-value`
    const schema = POSITION_REPORTED_AVRO
    return { url: schemaRegistry.url, clientId: 'test', subject, schema }
  }

  function aPrefix() {
    return `${kafka.topicPrefix}.${randomBytes(4).toString('hex')}`
  }

  function registryClient() {
    return new SchemaRegistry({ host: schemaRegistry.url })
  }

  async function register(subject: string, schema: object): Promise<number> {
    const { id } = await registryClient().register(
      { type: SchemaType.AVRO, schema: JSON.stringify(schema) },
      { subject },
    )
    return id
  }

  async function get(path: string): Promise<Record<string, unknown>> {
    const response = await fetch(`${schemaRegistry.url}${path}`)
    return (await response.json()) as Record<string, unknown>
  }
})

function withField(field: { name: string; type: string[] }) {
  return {
    ...POSITION_REPORTED_AVRO,
    fields: [...POSITION_REPORTED_AVRO.fields, { ...field, default: null }],
  }
}

function doubleBytes(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(value)
  return bytes
}

/** A proxy to the registry that can be closed and reopened. */
async function detour(target: string) {
  let away = false
  let refused = 0
  const server = createServer((incoming, outgoing) => {
    if (away) {
      refused += 1
      incoming.socket.destroy()
      return
    }
    const { method, headers } = incoming
    const path = new URL(target).pathname + (incoming.url ?? '')
    const onward = request(new URL(path, target), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    goAway: () => (away = true),
    comeBack: () => (away = false),
    refused: () => refused,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
