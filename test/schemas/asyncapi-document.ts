import { readFileSync } from 'node:fs'
import asyncapiSpecs from '@asyncapi/specs'
import { expect } from '@jest/globals'
import { Ajv, type AnySchemaObject } from 'ajv'
import type { Message } from 'kafkajs'
import { parse } from 'yaml'
import type { PositionReported } from '../../schemas/events/position-reported.ts'
import { positionReported } from '../samples.ts'

type Schema = { readonly required?: string[]; readonly properties?: Record<string, unknown> }

export type DescribedMessage = {
  readonly contentType?: string
  readonly headers: { readonly $ref: string }
  readonly bindings: { readonly kafka: { readonly key: Schema } }
}

type DescribedAvro = DescribedMessage & {
  readonly payload: { readonly schema: { type: 'record'; name: string; fields: unknown[] } }
}

type Channel = {
  readonly address: string
  readonly bindings: {
    readonly kafka: {
      readonly partitions: number
      readonly replicas: number
      readonly topicConfiguration: Readonly<Record<string, unknown>>
    }
  }
}

type Examples<Payload> = {
  readonly examples: readonly { readonly payload: Payload; readonly headers: Message['headers'] }[]
}

/** The part of the AsyncAPI document that is compared with the code. */
type AsyncapiDocument = {
  readonly channels: Readonly<Record<string, Channel>>
  readonly components: {
    readonly schemas: Record<
      | 'positionReported'
      | 'attributes'
      | 'reportRejected'
      | 'rejectionError'
      | 'deviceSeen'
      | 'cloudEventHeaders'
      | 'heartbeatHeaders'
      | 'erasureHeaders'
      | 'rejectionHeaders'
      | 'fact'
      | 'factType'
      | 'factHeaders'
      | 'originHeaders',
      Schema
    >
    readonly messages: {
      readonly positionReportedJson: DescribedMessage & Examples<object>
      readonly deviceSeenJson: DescribedMessage & Examples<object>
      readonly deviceSeenAvro: DescribedAvro
      readonly deviceErased: DescribedMessage & Examples<null> & { readonly payload: Schema }
      readonly reportRejected: DescribedMessage & Examples<object>
      readonly fact: DescribedMessage & Examples<object>
      readonly positionReportedAvro: DescribedAvro
    }
  }
}

const file = new URL('../../schemas/asyncapi.yaml', import.meta.url)
export const document = parse(readFileSync(file, 'utf8')) as AsyncapiDocument

/** Formats are annotations; patterns constrain the texts. */
const VALIDATION = { strict: false, validateFormats: false } as const

/** The parts of the document that violate AsyncAPI's schema. */
export function faultsAsAsyncapi(): unknown[] {
  // That schema contains a copy of the meta-schema.
  const ajv = new Ajv({ ...VALIDATION, meta: false, validateSchema: false })
  return check(ajv, asyncapiSpecs.schemas['3.0.0'] as AnySchemaObject)(document)
}

/** Lists the violations of a schema of the document in a value. */
export function checkerOf(schema: Schema): (value: unknown) => unknown[] {
  return check(new Ajv(VALIDATION), { ...schema, components: document.components })
}

/** Checks that a message has exactly the documented key and headers. */
export function expectEnvelope({ key, headers = {} }: Message, described: DescribedMessage) {
  expect(checkerOf(described.bindings.kafka.key)(key)).toEqual([])
  const name = described.headers.$ref.split('/').at(-1) as keyof typeof document.components.schemas
  const schema = document.components.schemas[name]
  expect(checkerOf(schema)(headers)).toEqual([])
  const known = Object.keys(schema.properties ?? {})
  expect(Object.keys(headers)).toEqual(known.filter((header) => header in headers))
  expect(headers['content-type']).toBe(described.contentType)
}

function check(ajv: Ajv, schema: AnySchemaObject): (value: unknown) => unknown[] {
  const validate = ajv.compile(schema)
  return (value) => (validate(value) ? [] : (validate.errors ?? []))
}

/** An event with every possible field. */
export const everyField: Required<PositionReported> = {
  ...positionReported(),
  accuracy: 4.5,
  altitude: 120,
  speed: 3.25,
  heading: 270,
  battery: 0.5,
  attributes: { alarm: 'sos', ignition: true, odometer: 12_345.5 },
  imported: true,
}
