import { readPages } from '../../runtime/process/read-pages.ts'
import { deviceSearchKey, isFound, searchWords } from '../../schemas/devices/device-search.ts'
import type { PlaceByAge } from '../../store/back-office.ts'
import type { AdminContext } from './admin-route.ts'
import { answerPage, listById } from './answer-page.ts'
import type { Caller } from './caller.ts'
import { readCursor } from './cursor.ts'
import { PAGE_PARAMETERS, textParameter, type PageQuery } from './query.ts'
import { choice, list, text } from './rule.ts'

const READ_AT_ONCE = 1_000
const MOST_IDS = 100

/** Compares numbers in names by value: `Van 2` before `Van 10`. */
const collator = new Intl.Collator('en', { numeric: true })

type SortedValue = string | number | undefined
type Search = { readonly q?: string; readonly id?: readonly string[]; readonly sort?: string }

/** The parameters of a searchable list; `found`: what `q` is compared with. */
export function searchParameters<Sort extends string>(found: string, sorts: readonly Sort[]) {
  const all = sorts.flatMap((sort) => [sort, `-${sort}` as const])
  const expected = `id must be given at most ${MOST_IDS} times, with different ids`
  return {
    ...PAGE_PARAMETERS,
    q: textParameter('q', 128).described(
      `Words, each of which is in ${found}; case, separators and leading zeros do not count`,
    ),
    id: list(text({ max: 128, expected }), { max: MOST_IDS, expected }).described(
      'Only those with one of these ids: for names of ids that another list has',
    ),
    sort: choice(all, {
      expected: `sort must be one of ${sorts.join(', ')}, with a - before it to reverse the order`,
    }).described('The column to sort by; `-` reverses the order'),
  }
}

/**
 * A list that can be searched and sorted, in memory: an account has thousands at most, and the
 * store supports only one order. Without a search it is read page by page, like any other list.
 */
export function searchedList<Item extends PlaceByAge, Filter extends object>({
  fits,
  find,
  textsOf,
  sorts,
  usual,
  ...list
}: Parameters<typeof listById<Item>>[0] & {
  readonly find: (query: { accountId: string; id: string }) => Promise<Item | undefined>
  /** The texts of an item that a search matches. */
  readonly textsOf: (item: Item) => readonly [name: string, other: string]
  readonly fits: (item: Item, filter: Filter) => boolean
  readonly sorts: Readonly<Record<string, (item: Item) => SortedValue>>
  /** The default order. */
  readonly usual: string
}) {
  const { name, page, view } = list
  const listAll = listById(list)

  async function readFitting(accountId: string, { q, id, ...filter }: Search & Filter) {
    const words = searchWords(q ?? '')
    const isWanted = (item: Item) =>
      (words.length === 0 || isFound(deviceSearchKey(...textsOf(item)), words)) &&
      fits(item, filter as unknown as Filter)
    const fitting: Item[] = []
    if (id !== undefined) {
      const some = await Promise.all(id.map((one) => find({ accountId, id: one })))
      return some.filter((item) => item !== undefined).filter(isWanted)
    }
    for await (const some of readPages<Item>(READ_AT_ONCE, (part) =>
      page({ accountId, ...part }),
    )) {
      fitting.push(...some.filter(isWanted))
    }
    return fitting
  }

  return async function search(
    ctx: AdminContext,
    { accountId }: Pick<Caller, 'accountId'>,
    { query: { limit, cursor, ...filter } }: { readonly query: PageQuery & Search & Filter },
  ): Promise<void> {
    if (Object.keys(filter).length === 0) {
      const own = cursor === undefined ? { limit } : { limit, cursor }
      return listAll(ctx, { accountId }, { query: own })
    }
    const wanted = filter as unknown as Search & Filter
    const sort = wanted.sort ?? usual
    const valueOf = sorts[sort.replace(/^-/, '')]!
    const isText = sort.endsWith('name') || sort.endsWith('email')
    const sign = sort.startsWith('-') ? -1 : 1
    const placeOf = (item: Item) => [valueOf(item) ?? (isText ? '' : 0), item.id] as const
    const compare = (a: readonly [SortedValue, string], b: readonly [SortedValue, string]) =>
      sign * (compareValues(a[0], b[0]) || (a[1] < b[1] ? -1 : a[1] > b[1] ? 1 : 0))
    const of = { name, accountId, filter }
    const after = readCursor(cursor, of, [isText ? 'text' : 'number', 'text'])
    const sorted = (await readFitting(accountId, wanted))
      .map((item) => ({ item, place: placeOf(item) }))
      .filter(({ place }) => after === undefined || compare(place, after) > 0)
      .sort((a, b) => compare(a.place, b.place))
    const items = sorted.map(({ item }) => item)
    await answerPage(ctx, { list: of, limit, items, placeOf, view: (item) => view(item) })
  }
}

function compareValues(a: SortedValue, b: SortedValue): number {
  if (typeof a === 'string' && typeof b === 'string') return collator.compare(a, b)
  return Number(a ?? 0) - Number(b ?? 0)
}
