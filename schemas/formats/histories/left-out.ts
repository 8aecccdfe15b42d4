import { UnreadableError, type FileItem, type Format, type Text } from './format.ts'

/** Reads the items of a text. If it is damaged, the error says how much is left out, where that can be counted. */
export async function* itemsAndLeftOut(
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
    // Nobody knows what is in a rest that is no text.
    while (isText && (await nextOrEnd()).done !== true);
    if (!isText) {
      const place = lastPlace === 0 ? '' : `, after ${format.places} ${lastPlace}`
      throw new UnreadableError(`${error.message}${place}`, { cause: error })
    }
    const leftOut = sought.count() - itemsRead
    if (leftOut <= 0) throw error
    const message = `${error.message}; left out from there on: about ${leftOut} ${each.what}`
    throw new UnreadableError(message, { cause: error })
  } finally {
    await source.return?.(undefined)
  }
}

/** Counts how often a text occurs in pieces of a longer one. */
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
