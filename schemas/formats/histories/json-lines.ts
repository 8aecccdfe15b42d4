import { parseJsonText, parseObject } from '../values.ts'
import { fieldItems } from './field-items.ts'
import { type Format, type FileItem, firstLines, LINES, linesOf, type Line } from './format.ts'
import { featureItems } from './geo-json.ts'
import { namePosition } from './named-fields.ts'

/**
 * A position as JSON on each line: a report, a record of our own export, a GeoJSON feature, or an
 * OwnTracks message.
 */
export const ndjsonFormat: Format = {
  name: 'ndjson',
  title: 'NDJSON of this service and others',
  places: 'line',
  each: LINES,
  recognises(head) {
    if (head.startsWith('[')) return false
    const lines = firstLines(head)
    const [line = ''] = lines
    // A file of one line is a GeoJSON file.
    if (lines.length > 1 && isFeature(line)) return true
    return lines.filter(isPosition).length * 2 >= Math.max(1, lines.length)
  },

  async *read(text) {
    for await (const lines of linesOf(text)) yield lines.flatMap(itemsOf)
  },
}

function itemsOf({ number: place, text }: Line): FileItem[] {
  const fields = parseObject(parseJsonText(stripSeparator(text)))
  if (fields === undefined) {
    return [{ kind: 'broken', place, message: 'the line must be a JSON object' }]
  }
  if (fields['type'] === 'Feature') return featureItems(fields, place)
  return fieldItems(fields, place)
}

function isPosition(line: string): boolean {
  const names = Object.keys(parseObject(parseJsonText(line)) ?? {})
  return namePosition(names) || (names.includes('latitude') && names.includes('longitude'))
}

function isFeature(line: string): boolean {
  return parseObject(parseJsonText(stripSeparator(line)))?.['type'] === 'Feature'
}

/** RFC 8142 starts each line with a record separator. */
function stripSeparator(line: string): string {
  return line.startsWith('\x1e') ? line.slice(1) : line
}
