import { objectOf } from '../../runtime/openapi/json-schema.ts'
import type { PlaceByAge } from '../../store/back-office.ts'
import type { AdminContext, JsonSchema, Input } from './admin-route.ts'
import { answerInParts, viewInParts } from './answer-in-parts.ts'
import { writeCursor, readCursor, type List, type CursorKey } from './cursor.ts'
import type { Caller } from './caller.ts'
import type { PageQuery } from './query.ts'

export const NEXT_CURSOR: JsonSchema = {
  type: ['string', 'null'],
  description:
    'The `cursor` of the next page; null on the last one. A page of large items holds fewer than `limit`',
}

/** The schema of a list page with these items. */
export function pageOf(items: JsonSchema): JsonSchema {
  return objectOf(
    { items: { type: 'array', items }, nextCursor: NEXT_CURSOR },
    { title: `${String(items['title'])}Page` },
  )
}

/** Defines how a list shows its items, and each item's cursor. */
type Shown<Item> = {
  readonly list: List
  readonly items: readonly Item[]
  readonly placeOf: (item: Item) => CursorKey
  readonly view: (item: Item) => object
}

/**
 * Sends one page of a list. `items` holds one more than `limit` if there are more, so that the last
 * page is recognised; `hasMore` says so for a page that ends early.
 */
export async function answerPage<Item>(
  ctx: AdminContext,
  {
    list,
    limit,
    items,
    hasMore = items.length > limit,
    placeOf,
    view,
  }: Shown<Item> & { readonly limit: number; readonly hasMore?: boolean },
): Promise<void> {
  const page = items.slice(0, limit)
  const last = hasMore ? page.at(-1) : undefined
  await answerInParts(ctx, {
    name: 'items',
    parts: viewInParts(page, view),
    after: () => ({ nextCursor: last === undefined ? null : writeCursor(list, placeOf(last)) }),
  })
}

/**
 * A page read from the store ends after the item that brings it to this size: items may be large.
 */
const PAGE_BYTES = 1024 * 1024

/**
 * Sends a page of a list in the caller's account, after the last item seen. If items are large it
 * has fewer than `limit`.
 */
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
    readonly mostBytes?: number
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
      mostBytes: PAGE_BYTES,
      ...(createdAt !== undefined && id !== undefined && { after: { id, createdAt } }),
    })
    const after = items.at(-1)
    const hasMore =
      items.length > limit ||
      (after !== undefined && (await page({ accountId, limit: 1, after })).length > 0)
    await answerPage(ctx, {
      list,
      limit,
      items,
      hasMore,
      placeOf: ({ createdAt, id }) => [createdAt, id],
      view,
    })
  }
}
