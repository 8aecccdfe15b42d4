import { csvFormat } from './csv.ts'
import { geoJsonFormat } from './geo-json.ts'
import { googleAndroid, googleIos } from './google-timeline.ts'
import { googleRecords } from './google-records.ts'
import { gpxFormat } from './gpx.ts'
import { ndjsonFormat } from './ndjson.ts'
import { owntracksRec } from './owntracks-rec.ts'
import { traccarCsv } from './traccar-csv.ts'
import { traccarJson } from './traccar-json.ts'
import { UnreadableError, type Format, type FileItem, type Text } from './format.ts'
import { itemsAndLeftOut } from './left-out.ts'

/** Where several recognise a text, the first counts. */
export const FORMATS: readonly Format[] = [
  ...[gpxFormat, googleRecords, googleAndroid, googleIos, owntracksRec, traccarJson, traccarCsv],
  ...[ndjsonFormat, geoJsonFormat, csvFormat],
]

/** The number of characters by which a format is recognised. */
const HEAD = 64 * 1024

export type ReadOptions = {
  readonly format?: Format | undefined
  /** The absolute path of the file, with slashes, if it has one. */
  readonly path?: string | undefined
}

/**
 * Reads a text in the format given or recognised.
 * @throws {UnreadableError} if it has no format that is known, or is not readable to its end. Then the error says how
 * much was left out, as far as that can be counted.
 */
export async function readPoints(
  text: Text,
  { format, path }: ReadOptions = {},
): Promise<{ format: Format; items: AsyncIterable<readonly FileItem[]> }> {
  const source = text[Symbol.asyncIterator]()
  const pieces: string[] = []
  let fault: Error | undefined
  for (let length = 0; length < HEAD; length += pieces.at(-1)?.length ?? 0) {
    try {
      const next = await source.next()
      if (next.done === true) break
      pieces.push(next.value)
    } catch (error) {
      fault = error as Error
      break
    }
  }
  const head = pieces.join('')
  const known = format ?? recogniseFormat(head)
  if (known === undefined) throw fault ?? new UnreadableError(unknownFormat(head))
  return { format: known, items: itemsAndLeftOut(known, whole(), { path }) }

  async function* whole() {
    yield* pieces
    if (fault !== undefined) throw fault
    yield* { [Symbol.asyncIterator]: () => source }
  }
}

/** The format of a text, from its first characters. */
function recogniseFormat(head: string): Format | undefined {
  return FORMATS.find((format) => format.recognises(head.trimStart()))
}

function unknownFormat(head: string): string {
  const start = head.trimStart().slice(0, 1000)
  if (start === '') return 'it is empty'
  if (/<kml\b/.test(start)) return 'it is KML: export GPX or GeoJSON instead'
  if (/^\{\s*"timelineObjects"/.test(start)) {
    return 'it is a month of semantic history, which has guesses in place of positions: import Records.json'
  }
  const names = FORMATS.map(({ name }) => name).join(', ')
  return `its format is not recognised: name it with --format (${names})`
}
