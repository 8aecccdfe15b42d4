import { readFileSync } from 'node:fs'

export type AvroRecord = {
  readonly type: 'record'
  readonly name: string
  readonly fields: readonly { readonly name: string; readonly default?: unknown }[]
}

// The Avro schemas of the events that have a value, each a subject of its own (compatibility
// BACKWARD). Fields added to a file need a default, so that new readers can read old events.
export const POSITION_REPORTED_AVRO = read('./position-reported.avsc')
export const DEVICE_SEEN_AVRO = read('./device-seen.avsc')

function read(file: string): AvroRecord {
  return JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8')) as AvroRecord
}
