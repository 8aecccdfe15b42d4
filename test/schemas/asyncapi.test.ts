import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { Admin, ITopicConfig } from 'kafkajs'
import { toMessage } from '../../event-log/kafka/event-format.ts'
import { recordMessage } from '../../event-log/kafka/topic.ts'
import { ensureTopics, topicNames } from '../../event-log/kafka/topics.ts'
import { deadLettersOf } from '../../event-log/topic.ts'
import { ATTRIBUTES_SCHEMA } from '../../schemas/report/attributes.ts'
import { POSITION_REPORTED_AVRO } from '../../schemas/events/avro-schemas.ts'
import {
  checkPositionReported,
  decodePositionReported,
  encodePositionReported,
  type PositionReported,
} from '../../schemas/events/position-reported.ts'
import {
  COORDINATE_FIELDS,
  MEASUREMENT_FIELDS,
  MEASUREMENTS,
} from '../../schemas/report/report-fields.ts'
import { parsePositionReport } from '../../schemas/report/position-report.ts'
import { positionReported, T0 } from '../samples.ts'
import { anyText } from '../any-text.ts'
import {
  checkerOf,
  document,
  everyField,
  expectEnvelope,
  faultsAsAsyncapi,
} from './asyncapi-document.ts'

const { schemas, messages } = document.components

const everyName = Object.keys(schemas.positionReported.properties ?? {})

describe('the AsyncAPI document', () => {
  test('the document is valid AsyncAPI 3', () => {
    expect(faultsAsAsyncapi()).toEqual([])
  })

  test('the document contains all its references', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)]
    expect(references.length).toBeGreaterThan(10)
    for (const [, path] of references) expect(document).toHaveProperty(path!.split('/'))
  })

  test('schemas, enumerations included, have unique names for generated types', () => {
    const taken = Object.keys(document.channels).filter((name) => name in schemas)
    expect(taken).toEqual([])
    const nameless = Object.values<object>(schemas).filter((schema) =>
      /"enum":/.test(JSON.stringify('properties' in schema ? schema.properties : {})),
    )
    expect(nameless).toEqual([])
  })

  test('the topics are documented as the code creates them', async () => {
    const created = await createdTopics({ replicationFactor: 3 })
    const described = Object.values(document.channels).map(({ address, bindings: { kafka } }) => ({
      topic: address,
      numPartitions: kafka.partitions,
      replicationFactor: kafka.replicas,
      settings: Object.fromEntries(
        Object.entries(kafka.topicConfiguration).map(([name, value]) => [name, String(value)]),
      ),
    }))
    expect(described).toEqual(created)
  })

  test('a position has, and requires, the same fields as in the code', () => {
    expect(everyName).toEqual(namesReadFrom(everyField))
    const requiredByCode = everyName.filter(
      (name) => !isReadable({ ...fields(), [name]: undefined }),
    )
    expect(schemas.positionReported.required).toEqual(requiredByCode)
    for (const name of MEASUREMENTS) expect(requiredByCode).not.toContain(name)
  })

  test('a position has the ranges and units in the table of fields', () => {
    for (const { name, range, meaning } of [...COORDINATE_FIELDS, ...MEASUREMENT_FIELDS]) {
      const [minimum, greatest] = range
      expect(schemas.positionReported.properties?.[name]).toEqual({
        type: 'number',
        minimum,
        description: `${meaning}.`,
        ...(greatest < Number.MAX_VALUE && { maximum: greatest }),
      })
    }
  })

  test('attributes have the bounds in the rules of a report', () => {
    const { type, maxProperties, propertyNames, additionalProperties } = ATTRIBUTES_SCHEMA
    const { type: types, maxLength } = additionalProperties
    expect(schemas.attributes).toMatchObject({
      type,
      maxProperties,
      propertyNames,
      additionalProperties: { type: types, maxLength },
    })
  })

  test('the code can read the example of a position', () => {
    const [example] = messages.positionReportedJson.examples
    const event = decodePositionReported(JSON.stringify(example!.payload))
    expect(JSON.parse(encodePositionReported(event))).toEqual(example!.payload)
    expect(checkerOf(schemas.cloudEventHeaders)(example!.headers)).toEqual([])
  })
})

describe('a JSON event of the code', () => {
  test('a JSON event matches the document’s message: key, headers, value', () => {
    for (const event of [everyField, positionReported({ timestampSource: 'server' })]) {
      const message = toMessage(event)
      expectEnvelope(message, messages.positionReportedJson)
      expect(checkerOf(schemas.positionReported)(JSON.parse(String(message.value)))).toEqual([])
    }
  })

  test('a JSON event is marked as documented if and only if it waited in a spool', () => {
    const message = toMessage(everyField, { spooled: true })
    expectEnvelope(message, messages.positionReportedJson)
    expect(message.headers).toMatchObject({ ce_spooled: 'true' })
    expect(toMessage(everyField).headers).not.toHaveProperty('ce_spooled')
  })

  test('a JSON event has only documented fields', () => {
    expect(Object.keys(fields()).sort()).toEqual([...everyName].sort())
  })

  test('the JSON event of any accepted report matches the document', () => {
    const measured = Object.fromEntries(MEASUREMENTS.map((name) => [name, aNumber()]))
    const aReport = fc.record(
      {
        deviceId: anyText(),
        latitude: aNumber(),
        longitude: aNumber(),
        ...measured,
        attributes: fc.dictionary(fc.constantFrom('alarm', 'x.y'), fc.oneof(aNumber(), anyText())),
      },
      { requiredKeys: ['deviceId', 'latitude', 'longitude'] },
    )
    const faultsOf = checkerOf(schemas.positionReported)
    const timestamp = new Date(T0).toISOString()
    fc.assert(
      fc.property(aReport, (body) => {
        const parsed = parsePositionReport({ ...body, timestamp }, { now: T0 })
        if ('faults' in parsed) return
        const event = encodePositionReported({ ...positionReported(), ...parsed.report })
        expect(faultsOf(JSON.parse(event))).toEqual([])
      }),
      { numRuns: 500 },
    )
  })

  test.each(['latitude', 'longitude', ...MEASUREMENTS])(
    'a JSON event has %s within the document’s limits',
    (name) => {
      const limits = schemas.positionReported.properties?.[name] as Record<string, number>
      for (const limit of ['minimum', 'maximum']) {
        const value = limits[limit]
        if (value === undefined) continue
        const beyond = limit === 'minimum' ? value - 0.001 : value + 0.001
        expect(isAccepted({ [name]: value })).toBe(true)
        expect(isAccepted({ [name]: beyond })).toBe(false)
      }
      if (limits['maximum'] === undefined) expect(isAccepted({ [name]: 1e300 })).toBe(true)
    },
  )
})

describe('a dead letter of the code', () => {
  test('a dead letter has exactly the documented headers', () => {
    const record = deadLettersOf(topicNames('gps').positions).toRecord({
      kind: 'unreadable',
      origin: { partition: 3, offset: 12345 },
      reason: 'the value is not JSON',
      key: null,
      value: Buffer.from('{'),
    })
    const { headers = {} } = recordMessage(record)
    expect(checkerOf(schemas.originHeaders)(headers)).toEqual([])
    expect(Object.keys(headers)).toEqual(schemas.originHeaders.required)
    expect(Object.keys(headers)).toEqual(Object.keys(schemas.originHeaders.properties ?? {}))
  })
})

test('the document’s Avro schema is the one that the code registers', () => {
  expect(messages.positionReportedAvro.payload.schema).toEqual(POSITION_REPORTED_AVRO)
})

/** The fields of an event in JSON. */
function fields(): Record<string, unknown> {
  return JSON.parse(encodePositionReported(everyField)) as Record<string, unknown>
}

function isReadable(json: Record<string, unknown>): boolean {
  try {
    decodePositionReported(JSON.stringify(json))
    return true
  } catch {
    return false
  }
}

/** The names of the fields that the code reads when parsing an event, in order. */
function namesReadFrom(event: PositionReported): string[] {
  const names = new Set<string>()
  checkPositionReported(
    new Proxy<Record<string, unknown>>(
      { ...event },
      {
        get(target, name) {
          names.add(String(name))
          return target[String(name)]
        },
      },
    ),
  )
  return [...names]
}

function isAccepted(changes: object): boolean {
  const body = { deviceId: 'tracker-1', latitude: 1, longitude: 2, ...changes }
  return !('faults' in parsePositionReport(body, { now: T0 }))
}

function aNumber() {
  const anywhere = fc.double({ noNaN: true, noDefaultInfinity: true })
  return fc.oneof(
    fc.double({ min: 0, max: 1, noNaN: true }),
    fc.integer({ min: -200, max: 400 }),
    anywhere,
  )
}

const BROKER = { nodeId: 1, host: 'localhost', port: 9092 }

/** A topic's metadata once it has been created. */
function ledByTheOneBroker({ topic, numPartitions = 1 }: ITopicConfig) {
  const partitions = Array.from({ length: numPartitions }, (_, partitionId) => ({
    partitionId,
    partitionErrorCode: 0,
    leader: BROKER.nodeId,
    replicas: [BROKER.nodeId],
    isr: [BROKER.nodeId],
  }))
  return { name: topic, partitions }
}

/** The topics that `ensureTopics` creates on an empty cluster. */
async function createdTopics(options: { replicationFactor: number }) {
  const created: ITopicConfig[] = []
  const cluster: Partial<Admin> = {
    listTopics: async () => [],
    describeConfigs: async () => ({ resources: [], throttleTime: 0 }),
    createTopics: async ({ topics }) => created.push(...topics) > 0,
    describeCluster: async () => ({ brokers: [BROKER], controller: BROKER.nodeId, clusterId: '' }),
    fetchTopicMetadata: async () => ({ topics: created.map(ledByTheOneBroker) }),
  }
  const silent = { debug() {}, info() {}, warn() {}, error() {} }
  await ensureTopics(cluster as Admin, { topicPrefix: 'gps', ...options }, silent)
  return created.map(({ configEntries = [], ...topic }) => ({
    ...topic,
    settings: Object.fromEntries(configEntries.map(({ name, value }) => [name, value])),
  }))
}
