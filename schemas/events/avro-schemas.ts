import { COORDINATE_FIELDS, MEASUREMENT_FIELDS } from '../report/report-fields.ts'

export type AvroRecord = {
  readonly type: 'record'
  readonly name: string
  readonly namespace: string
  readonly doc: string
  readonly fields: readonly AvroField[]
}

type AvroField = {
  readonly name: string
  readonly type: AvroType | readonly AvroType[]
  readonly default?: unknown
  readonly doc?: string
}

type AvroType = string | { readonly type: string; readonly [detail: string]: unknown }

const TIME = { type: 'long', logicalType: 'timestamp-millis' }
const ATTRIBUTES = {
  name: 'attributes',
  type: ['null', { type: 'map', values: ['boolean', 'double', 'string'] }],
  default: null,
  doc: 'What else the device knows.',
} as const

// The Avro schemas of the events that have a value, each with its own subject (compatibility
// BACKWARD). Fields added later need a default, so that new readers can read old events.

export const POSITION_REPORTED_AVRO: AvroRecord = {
  type: 'record',
  name: 'PositionReported',
  namespace: 'gps',
  doc: "A device's position was reported and accepted.",
  fields: [
    { name: 'recordId', type: 'string', doc: 'ULID; the same for every repeat of one report.' },
    { name: 'accountId', type: 'string' },
    { name: 'keyId', type: 'string', doc: 'The API key that sent the report.' },
    { name: 'deviceId', type: 'string' },
    ...COORDINATE_FIELDS.map(({ name, meaning }) => ({ name, type: 'double', doc: `${meaning}.` })),
    { name: 'timestamp', type: TIME, doc: 'When the position was true.' },
    {
      name: 'timestampSource',
      type: { type: 'enum', name: 'TimestampSource', symbols: ['device', 'server'] },
      doc: 'Who gave the timestamp: the server where the report had none.',
    },
    { name: 'receivedAt', type: TIME, doc: 'When the ingest API received the report.' },
    ...MEASUREMENT_FIELDS.map(({ name, meaning }) => ({
      name,
      type: ['null', 'double'],
      default: null,
      doc: `${meaning}.`,
    })),
    ATTRIBUTES,
    {
      name: 'imported',
      type: ['null', 'boolean'],
      default: null,
      doc: 'True if it was recorded earlier, elsewhere, and brought in as history.',
    },
  ],
}

export const DEVICE_SEEN_AVRO: AvroRecord = {
  type: 'record',
  name: 'DeviceSeen',
  namespace: 'gps',
  doc: 'A device was heard of without a position.',
  fields: [
    { name: 'accountId', type: 'string' },
    { name: 'deviceId', type: 'string' },
    { name: 'keyId', type: 'string', doc: 'The API key that sent the heartbeat.' },
    { name: 'receivedAt', type: TIME, doc: 'When the ingest API received it.' },
    { name: 'battery', type: ['null', 'double'], default: null, doc: 'A fraction from 0 to 1.' },
    ATTRIBUTES,
  ],
}
