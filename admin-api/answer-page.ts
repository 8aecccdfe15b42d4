import { succeed } from '../runtime/http.ts'
import type { AdminContext } from './admin-route.ts'
import { writeCursor, type List } from './cursor.ts'

/**
 * Answers one page of a list. `items` holds one more than `limit` where there is more to come: so
 * the last page says that it is the last.
 */
export function answerPage<Item>(
  ctx: AdminContext,
  {
    list,
    limit,
    items,
    placeOf,
    view,
  }: {
    list: List
    limit: number
    items: readonly Item[]
    placeOf: (item: Item) => readonly (string | number)[]
    view: (item: Item) => object
  },
): void {
  const shown = items.slice(0, limit)
  const last = shown.at(-1)
  const more = items.length > limit && last !== undefined
  succeed(ctx, {
    items: shown.map(view),
    nextCursor: more ? writeCursor(list, placeOf(last)) : null,
  })
}
