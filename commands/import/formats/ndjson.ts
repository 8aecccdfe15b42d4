import { objectIn } from '../../../ingest-api/apps/values.ts'
import type { Format, FileItem } from './format.ts'
import { LINES, linesOf, type Line } from './lines.ts'
import { jsonIn, ownPoint } from './own-fields.ts'

/** A report or record as JSON on each line, as our own export has them. */
export const ndjson: Format = {
  name: 'ndjson',
  title: 'NDJSON of this service',
  places: 'line',
  each: LINES,
  recognises(head) {
    const fields = objectIn(jsonIn(head.trimStart().split('\n', 1)[0] ?? ''))
    return fields !== undefined && 'latitude' in fields && 'longitude' in fields
  },

  async *read(text) {
    for await (const lines of linesOf(text)) yield lines.map(itemOf)
  },
}

function itemOf({ number: place, text }: Line): FileItem {
  const fields = objectIn(jsonIn(text))
  if (fields !== undefined) return { kind: 'point', place, point: ownPoint(fields) }
  return { kind: 'broken', place, message: 'the line must be a JSON object' }
}
