import { endOfTurn } from '../end-of-turn.ts'

/**
 * The part of a query that selects a page: at most `limit` items after the previous page's last
 * item.
 */
export type PageBounds<Item> = {
  readonly limit: number
  readonly after?: Item
  readonly mostBytes?: number
}

/**
 * Pages may also end after the item that brings them to this size; then the first empty page is the
 * end.
 */
type Sized = { readonly mostBytes?: number }

/**
 * Reads a list page by page, up to the first page that is not full. No page is empty. Other work
 * runs before each further page, so that a long list blocks nothing.
 */
export async function* readPages<Item>(
  limit: number,
  read: (page: PageBounds<Item>) => Promise<readonly Item[]>,
  sized: Sized = {},
): AsyncGenerator<readonly Item[], void> {
  yield* await openPages(limit, read, sized)
}

/**
 * Like `readPages`, but reads the first page before it resolves: a file must not start if its list
 * is unavailable.
 */
export async function openPages<Item>(
  limit: number,
  read: (page: PageBounds<Item>) => Promise<readonly Item[]>,
  sized: Sized = {},
): Promise<AsyncGenerator<readonly Item[], void>> {
  const first = await read({ limit, ...sized })
  return pages()

  async function* pages(): AsyncGenerator<readonly Item[], void> {
    for (let page = first; ;) {
      const after = page.at(-1)
      if (after === undefined) return
      yield page
      if (page.length < limit && sized.mostBytes === undefined) return
      await endOfTurn()
      page = await read({ limit, after, ...sized })
    }
  }
}
