import type { PlaceByAge } from '../../store/back-office.ts'
import type { AdminContext, Input } from './admin-route.ts'
import { answerPage } from './answer-page.ts'
import type { Caller } from './caller.ts'
import { readCursor } from './cursor.ts'
import type { PageQuery } from './query.ts'

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
    { query: { limit, cursor } }: Input<PageQuery>,
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
