import { UnreadableError, type Format, type FileItem, type Text } from './formats/format.ts'
import { FORMATS, recogniseFormat } from './formats/formats.ts'

/** The number of characters by which a format is recognised. */
const HEAD = 64 * 1024

/**
 * Reads a text in the format given or recognised.
 * @throws {UnreadableError} if it has no format that is known, or is not readable to its end.
 */
export async function readPoints(
  text: Text,
  { format }: { format?: Format | undefined } = {},
): Promise<{ format: Format; items: AsyncIterable<readonly FileItem[]> }> {
  const source = text[Symbol.asyncIterator]()
  const pieces: string[] = []
  for (let length = 0; length < HEAD; length += pieces.at(-1)?.length ?? 0) {
    const next = await source.next()
    if (next.done === true) break
    pieces.push(next.value)
  }
  const head = pieces.join('')
  const known = format ?? recogniseFormat(head)
  if (known === undefined) throw new UnreadableError(unknownFormat(head))
  return { format: known, items: known.read(whole()) }

  async function* whole() {
    yield* pieces
    yield* { [Symbol.asyncIterator]: () => source }
  }
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
