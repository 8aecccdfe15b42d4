import { csvFormat } from './csv.ts'
import { fitFormat } from './fit.ts'
import { geoJsonFormat } from './geo-json.ts'
import { googleAndroid, googleIos, googleRecords } from './google.ts'
import { gpxFormat } from './gpx.ts'
import { ndjsonFormat } from './json-lines.ts'
import { kmlFormat } from './kml.ts'
import { owntracksJson, owntracksRec } from './owntracks.ts'
import { tcxFormat } from './tcx.ts'
import { traccarCsv, traccarJson } from './traccar.ts'
import { describeUnreadText } from './unread.ts'
import { UnreadableError, type Format, type FileItem, type Text } from './format.ts'

/** If several recognise a text, the first counts. */
export const FORMATS: readonly Format[] = [
  ...[
    gpxFormat,
    fitFormat,
    tcxFormat,
    kmlFormat,
    googleRecords,
    googleAndroid,
    googleIos,
    owntracksRec,
    owntracksJson,
  ],
  ...[traccarJson, traccarCsv, ndjsonFormat, geoJsonFormat, csvFormat],
]

/** The number of characters used to recognise a format. */
const HEAD = 64 * 1024

export type ReadOptions = {
  readonly format?: Format | undefined
  /** The absolute path of the file, with slashes, if it has one. */
  readonly path?: string | undefined
}

/**
 * Reads a text in the given or recognised format.
 * @throws {UnreadableError} if its format is unknown, or it is not readable to its end. Then the
 * error says how much was omitted, as far as that can be counted.
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
  if (known === undefined) throw fault ?? new UnreadableError(describeUnknownFormat(head))
  return { format: known, items: itemsAndLeftOut(known, readWhole(), { path }) }

  async function* readWhole() {
    yield* pieces
    if (fault !== undefined) throw fault
    yield* { [Symbol.asyncIterator]: () => source }
  }
}

/** The format of a text, from its first characters. */
function recogniseFormat(head: string): Format | undefined {
  return FORMATS.find((format) => format.recognises(head.trimStart()))
}

function describeUnknownFormat(head: string): string {
  const start = head.trimStart().slice(0, 1000)
  if (start === '') return 'it is empty'
  const names = FORMATS.map(({ name }) => name).join(', ')
  return (
    describeUnreadText(start) ?? `its format is not recognised: name it with --format (${names})`
  )
}

/**
 * Reads the items of a text. If it is damaged, the error says how much was skipped, if that can be
 * counted.
 */
async function* itemsAndLeftOut(
  format: Format,
  text: Text,
  options: { readonly path?: string | undefined },
): AsyncGenerator<readonly FileItem[]> {
  const { each } = format
  if (each === undefined) {
    yield* format.read(text, options)
    return
  }
  const source = text[Symbol.asyncIterator]()
  const sought = occurrences(each.text)
  let isText = true
  let itemsRead = 0
  let lastPlace = 0

  async function next(): Promise<IteratorResult<string>> {
    try {
      const piece = await source.next()
      if (piece.done !== true) sought.add(piece.value)
      return piece
    } catch (error) {
      isText = false
      throw error
    }
  }

  async function nextOrEnd(): Promise<IteratorResult<string>> {
    try {
      return await next()
    } catch (error) {
      if (!(error instanceof UnreadableError)) throw error
      return { done: true, value: undefined }
    }
  }

  try {
    // Without `return`, so that a reader that gives up leaves the rest of the text for counting.
    const pieces = { [Symbol.asyncIterator]: () => ({ next }) }
    for await (const items of format.read(pieces, options)) {
      lastPlace = items.at(-1)?.place ?? lastPlace
      if (each.isPoint) itemsRead += items.filter(({ kind }) => kind === 'point').length
      else itemsRead = lastPlace
      yield items
    }
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error
    // The contents of a rest that is not text are unknown.
    while (isText && (await nextOrEnd()).done !== true);
    if (!isText) {
      const place = lastPlace === 0 ? '' : `, after ${format.places} ${lastPlace}`
      throw new UnreadableError(`${error.message}${place}`, { cause: error })
    }
    const leftOut = sought.count() - itemsRead
    if (leftOut <= 0) throw error
    const message = `${error.message}; omitted from there on: about ${leftOut} ${each.what}`
    throw new UnreadableError(message, { cause: error })
  } finally {
    await source.return?.(undefined)
  }
}

/** Counts how often a text occurs in chunks of a longer one. */
function occurrences(sought: string): { add(piece: string): void; count: () => number } {
  let count = 0
  let before = ''
  return {
    add(piece) {
      const text = before + piece
      for (let at = text.indexOf(sought); at !== -1; at = text.indexOf(sought, at + 1)) count += 1
      before = sought.length === 1 ? '' : text.slice(1 - sought.length)
    },
    count: () => count,
  }
}
