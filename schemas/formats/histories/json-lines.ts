import { readOwntracks } from '../senders/owntracks.ts'
import { jsonIn, objectIn, textIn } from '../values.ts'
import { type Format, type FileItem, firstLines, LINES, linesOf, type Line } from './format.ts'
import { featureItems } from './geo-json.ts'
import { areOwnNames, namedPoint, namePosition, ownPoint } from './named-fields.ts'
import { readAsApp } from './read-as-app.ts'

/** A position as JSON on each line: a report, a record of our own export, or a feature of GeoJSON. */
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
  const fields = objectIn(jsonIn(withoutSeparator(text)))
  if (fields === undefined) {
    return [{ kind: 'broken', place, message: 'the line must be a JSON object' }]
  }
  if (fields['type'] === 'Feature') return featureItems(fields, place)
  const isOwn = areOwnNames(Object.keys(fields))
  return [{ kind: 'point', place, point: isOwn ? ownPoint(fields) : namedPoint(fields) }]
}

function isPosition(line: string): boolean {
  const names = Object.keys(objectIn(jsonIn(line)) ?? {})
  return namePosition(names) || (names.includes('latitude') && names.includes('longitude'))
}

function isFeature(line: string): boolean {
  return objectIn(jsonIn(withoutSeparator(line)))?.['type'] === 'Feature'
}

/** RFC 8142 begins each line with a record separator. */
function withoutSeparator(line: string): string {
  return line.startsWith('\x1e') ? line.slice(1) : line
}

/** The time of receipt, the rest of the topic, and the JSON that the app has published. */
const LINE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\s+\S.*?\s(\{.*)$/

/**
 * The files of the OwnTracks Recorder (https://github.com/owntracks/recorder/blob/master/doc/STORE.md),
 * one for each device and month: `rec/USER/DEVICE/2024-03.rec`.
 */
export const owntracksRec: Format = {
  name: 'owntracks-rec',
  title: 'OwnTracks Recorder (.rec)',
  places: 'line',
  each: LINES,
  recognises: (head) => /^[^[{<]/.test(head) && firstLines(head).some((line) => LINE.test(line)),

  async *read(text, { path }) {
    const deviceId = deviceOfPath(path)
    for await (const lines of linesOf(text))
      yield lines.flatMap((line) => recordedItems(line, deviceId))
  },
}

function recordedItems({ number: place, text }: Line, deviceId: string | undefined): FileItem[] {
  const json = LINE.exec(text)?.[1]
  if (json === undefined) {
    const message = 'the line must be a time, a topic and a JSON object'
    return [{ kind: 'broken', place, message }]
  }
  return readAsApp(readOwntracks, json, { place }).map((item) => {
    // Without a topic the app's own messages go under the two letters of its tid, which is no device here.
    if (item.kind !== 'point' || hasTopic(json)) return item
    return { ...item, point: { ...item.point, deviceId } }
  })
}

function hasTopic(json: string): boolean {
  return json.includes('"topic"') && textIn(objectIn(jsonIn(json))?.['topic']) !== undefined
}

/** `user/device`, as in the topic, of a file where the Recorder keeps it. */
function deviceOfPath(path: string | undefined): string | undefined {
  if (path === undefined) return undefined
  const [folder, user, device] = path.split('/').slice(-4)
  return folder === 'rec' ? `${user}/${device}` : undefined
}
