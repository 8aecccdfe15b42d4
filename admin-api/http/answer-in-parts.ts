import { Readable } from 'node:stream'
import { succeed, successEnvelope } from '../../runtime/http.ts'
import { endOfTurn } from '../../runtime/end-of-turn.ts'
import type { AdminContext } from './admin-route.ts'

/** An answer with one long list among its members. */
type Parts = {
  /** The name of the list. */
  readonly name: string
  readonly parts: AsyncGenerator<readonly unknown[], void>
  /** The members that are known before the list is read, and those only after it. */
  readonly before?: object
  readonly after?: () => object
}

/**
 * Answers with a list that is read part by part. A long list is written at the caller's pace: two parts
 * are in memory at a time, other calls have their turn after each, and reading ends when the caller
 * disconnects. The first parts are read before this returns, so an unavailable store is a 503; a later
 * failure cuts the connection, so that callers cannot mistake a partial list for a complete one.
 */
export async function answerInParts(
  ctx: AdminContext,
  { name, parts, before = {}, after = () => ({}) }: Parts,
): Promise<void> {
  const first = await next()
  const second = await next()
  if (second.length === 0) return succeed(ctx, { ...before, [name]: first, ...after() })
  const empty = successEnvelope({ ...before, [name]: [] }, { status: 200, message: 'OK' })
  ctx.status = 200
  ctx.type = 'json'
  ctx.body = Readable.from(texts(JSON.stringify(empty).slice(0, -']}}'.length)))

  async function* texts(beginning: string): AsyncGenerator<string, void> {
    try {
      yield beginning + textOf(first)
      for (let part = second; part.length > 0; part = await next()) {
        yield `,${textOf(part)}`
        // Otherwise one fast caller would keep all others waiting until the end.
        await endOfTurn()
      }
      const others = JSON.stringify(after()).slice(1, -1)
      yield `]${others === '' ? '' : `,${others}`}}}`
    } finally {
      await parts.return()
    }
  }

  /** The next part that is not empty; empty at the end. */
  async function next(): Promise<readonly unknown[]> {
    for (;;) {
      const result = await parts.next()
      if (result.done === true) return []
      if (result.value.length > 0) return result.value
    }
  }
}

const VIEWED_AT_ONCE = 250

/** A long list in memory as parts that are viewed one by one. */
export async function* viewedInParts<Item>(
  items: readonly Item[],
  view: (item: Item) => object,
): AsyncGenerator<object[], void> {
  for (let at = 0; at < items.length; at += VIEWED_AT_ONCE) {
    yield items.slice(at, at + VIEWED_AT_ONCE).map(view)
  }
}

function textOf(items: readonly unknown[]): string {
  return items.map((item) => JSON.stringify(item)).join()
}
