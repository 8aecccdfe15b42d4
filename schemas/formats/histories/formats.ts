import { csvFormat } from './csv.ts'
import type { Format } from './format.ts'
import { geoJsonFormat } from './geo-json.ts'
import { googleAndroid } from './google-android.ts'
import { googleIos } from './google-ios.ts'
import { googleRecords } from './google-records.ts'
import { gpxFormat } from './gpx.ts'
import { ndjsonFormat } from './ndjson.ts'
import { owntracksRec } from './owntracks-rec.ts'
import { traccarCsv } from './traccar-csv.ts'
import { traccarJson } from './traccar-json.ts'

/** Where several recognise a text, the first counts. */
export const FORMATS: readonly Format[] = [
  ...[gpxFormat, googleRecords, googleAndroid, googleIos, owntracksRec, traccarJson, traccarCsv],
  ...[ndjsonFormat, geoJsonFormat, csvFormat],
]

/** The format of a text, from its first characters. */
export function recogniseFormat(head: string): Format | undefined {
  return FORMATS.find((format) => format.recognises(head.trimStart()))
}
