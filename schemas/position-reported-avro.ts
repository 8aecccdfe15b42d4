import { readFileSync } from 'node:fs'

/**
 * The Avro schema of `PositionReported` (subject `<topic>-value`, compatibility BACKWARD): what is
 * added to `position-reported.avsc` needs a default, so that a new reader takes what an older writer
 * wrote.
 */
export const POSITION_REPORTED_AVRO = JSON.parse(
  readFileSync(new URL('./position-reported.avsc', import.meta.url), 'utf8'),
) as AvroRecord

export type AvroRecord = {
  readonly type: 'record'
  readonly name: string
  readonly fields: readonly { readonly name: string; readonly default?: unknown }[]
}
