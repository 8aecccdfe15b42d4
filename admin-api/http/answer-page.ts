import { objectOf } from '../../runtime/openapi/json-schema.ts'
import type { PlaceByAge } from '../../store/back-office.ts'
import type { AdminContext, JsonSchema, Input } from './admin-route.ts'
import { answerInParts, viewedInParts } from './answer-in-parts.ts'
import { writeCursor, readCursor, type List, type CursorKey } from './cursor.ts'
import type { Caller } from './caller.ts'
import type { PageQuery } from './query.ts'

export const NEXT_CURSOR: JsonSchema = {
  type: ['string', 'null'],
  description: 'The `cursor` of the next page; null on the last one',
}

/** The schema of a list page with these items. */
export function pageOf(items: JsonSchema): JsonSchema {
  return objectOf(
    { items: { type: 'array', items }, nextCursor: NEXT_CURSOR },
    { title: `${String(items['title'])}Page` },
  )
}

/** How a list shows its items, and the place of each. */
type Shown<Item> = {
  readonly list: List
  readonly items: readonly Item[]
  readonly placeOf: (item: Item) => CursorKey
  readonly view: (item: Item) => object
}

/**
 * Answers one page of a list. `items` holds one more than `limit` if there are more, so that the
 * last page is marked as such.
 */
export async function answerPage<Item>(
  ctx: AdminContext,
  { list, limit, items, placeOf, view }: Shown<Item> & { readonly limit: number },
): Promise<void> {
  const page = items.slice(0, limit)
  const last = items.length > limit ? page.at(-1) : undefined
  await answerInParts(ctx, {
    name: 'items',
    parts: viewedInParts(page, view),
    after: () => ({ nextCursor: last === undefined ? null : writeCursor(list, placeOf(last)) }),
  })
}

/** Answers a page of a list in the caller's account, after the last item seen. */
export function listById<Item extends PlaceByAge>({
  name,
  page,
  view,
}: {
  /** Distinguishes the cursors of this list from those of other lists. */
  readonly name: string
  readonly page: (query: {
    readonly accountId: string
    readonly limit: number
    readonly after?: PlaceByAge
  }) => Promise<readonly Item[]>
  readonly view: (item: Item) => object
}) {
  return async function list(
    ctx: AdminContext,
    { accountId }: Pick<Caller, 'accountId'>,
    { query: { limit, cursor } }: Pick<Input<PageQuery>, 'query'>,
  ): Promise<void> {
    const list = { name, accountId }
    const [createdAt, id] = readCursor(cursor, list, ['number', 'text']) ?? []
    const items = await page({
      accountId,
      limit: limit + 1,
      ...(createdAt !== undefined && id !== undefined && { after: { id, createdAt } }),
    })
    await answerPage(ctx, {
      list,
      limit,
      items,
      placeOf: ({ createdAt, id }) => [createdAt, id],
      view,
    })
  }
}
