import { readFileSync } from 'node:fs'

/**
 * The Avro schema of `PositionReported` (subject `<topic>-value`, compatibility BACKWARD). Fields
 * added to `position-reported.avsc` need a default, so that new readers can read old events.
 */
export const POSITION_REPORTED_AVRO = JSON.parse(
  readFileSync(new URL('./position-reported.avsc', import.meta.url), 'utf8'),
) as AvroRecord

export type AvroRecord = {
  readonly type: 'record'
  readonly name: string
  readonly fields: readonly { readonly name: string; readonly default?: unknown }[]
}
