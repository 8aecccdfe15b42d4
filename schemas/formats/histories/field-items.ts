import { readOwntracks } from '../senders/owntracks.ts'
import { typeTexts } from '../typed-attributes.ts'
import { parseJsonText, parseObject, parseText } from '../values.ts'
import type { FileItem } from './format.ts'
import { namedPoint } from './named-fields.ts'
import { readAsApp } from './read-as-app.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * The items of an entry with named fields. OwnTracks' fields have special units and names.
 * @param areTexts whether texts stand for the values they spell, as in CSV.
 */
export function fieldItems(
  fields: Fields,
  place: number,
  { areTexts = false }: { areTexts?: boolean } = {},
): FileItem[] {
  if (!('tst' in fields || '_type' in fields)) {
    return [{ kind: 'point', place, point: namedPoint(fields, { areTexts }) }]
  }
  const message = { ...fields, _type: parseText(fields['_type']) ?? 'location' }
  const items = owntracksItems(JSON.stringify(message), { place })
  if (!areTexts) return items
  return items.map((item) => {
    if (item.kind !== 'point') return item
    const { attributes = {}, ...point } = item.point
    return { ...item, point: { ...point, attributes: typeTexts(attributes) } }
  })
}

/**
 * An OwnTracks message as JSON.
 * @param deviceId its device, if it has no topic: the two letters of its tid do not identify a
 * device here.
 */
export function owntracksItems(
  json: string,
  { place, deviceId }: { place: number; deviceId?: string | undefined },
): FileItem[] {
  return readAsApp(readOwntracks, json, { place }).map((item) => {
    if (item.kind !== 'point' || hasTopic(json)) return item
    return { ...item, point: { ...item.point, deviceId } }
  })
}

function hasTopic(json: string): boolean {
  return (
    json.includes('"topic"') && parseText(parseObject(parseJsonText(json))?.['topic']) !== undefined
  )
}
