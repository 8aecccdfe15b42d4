type Page<Item> = { readonly items: readonly Item[]; readonly nextCursor: string | null }

/** All items of a list: where they are large, a page holds fewer than its limit. */
export async function allPages<Item>(
  read: (cursor: string | undefined) => Promise<Page<Item>>,
): Promise<Item[]> {
  const all: Item[] = []
  for (let cursor: string | undefined; ;) {
    const { items, nextCursor } = await read(cursor)
    all.push(...items)
    if (nextCursor === null) return all
    cursor = nextCursor
  }
}
