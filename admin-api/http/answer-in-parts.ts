import { Readable } from 'node:stream'
import { successEnvelope } from '../../runtime/http/http.ts'
import { yieldFairly } from '../../runtime/end-of-turn.ts'
import type { AdminContext } from './admin-route.ts'

/** A response with one long list among its members. */
type Parts = {
  /** The name of the list. */
  readonly name: string
  readonly parts: AsyncGenerator<readonly unknown[], void>
  /** The members known before the list is read, and those known only afterwards. */
  readonly before?: object
  readonly after?: () => object
}

/**
 * Items written in one event-loop turn, a fraction of a millisecond: an item may have a thousand
 * vertices, or devices.
 */
const PIECE_CHARACTERS = 64 * 1024

/**
 * Responds with a list that is read part by part. A long list is written at the caller's pace: two
 * parts of it are in memory at a time, accounts take turns after each, and reading ends when the
 * caller disconnects. The first parts are read before this returns, so an unavailable store is a
 * 503; a later failure cuts the connection, so that callers cannot mistake a partial list for a
 * complete one.
 */
export async function answerInParts(
  ctx: AdminContext,
  { name, parts, before = {}, after = () => ({}) }: Parts,
): Promise<void> {
  const empty = successEnvelope({ ...before, [name]: [] }, { status: 200, message: 'OK' })
  const pieces = texts(JSON.stringify(empty).slice(0, -']}}'.length))
  const first = await pieces.next()
  const second = await pieces.next()
  ctx.status = 200
  ctx.type = 'json'
  if (second.done === true) ctx.body = first.value ?? ''
  else ctx.body = Readable.from(joinParts([first.value ?? '', second.value], pieces))

  async function* texts(beginning: string): AsyncGenerator<string, void> {
    let piece = beginning
    let separator = ''
    for await (const part of parts) {
      for (const item of part) {
        piece += separator + JSON.stringify(item)
        separator = ','
        if (piece.length < PIECE_CHARACTERS) continue
        yield piece
        piece = ''
        // Otherwise a caller with many fast calls would block all others until they end.
        await yieldFairly(ctx.state.party)
      }
    }
    const others = JSON.stringify(after()).slice(1, -1)
    yield `${piece}]${others === '' ? '' : `,${others}`}}}`
  }
}

async function* joinParts(
  begun: readonly string[],
  further: AsyncGenerator<string, void>,
): AsyncGenerator<string, void> {
  try {
    yield* begun
    yield* further
  } finally {
    await further.return()
  }
}

const VIEWED_AT_ONCE = 250

/** A long list in memory as parts that are viewed one by one. */
export async function* viewInParts<Item>(
  items: readonly Item[],
  view: (item: Item) => object | Promise<object>,
): AsyncGenerator<object[], void> {
  for (let at = 0; at < items.length; at += VIEWED_AT_ONCE) {
    const part: object[] = []
    // Sequentially, because a view may read files.
    for (const item of items.slice(at, at + VIEWED_AT_ONCE)) part.push(await view(item))
    yield part
  }
}
