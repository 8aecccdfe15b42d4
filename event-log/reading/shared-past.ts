import type { Offsets } from '../../schemas/devices/read-models.ts'
import { Slots, type GiveBack } from '../../runtime/limits/slots.ts'
import { createLingering } from '../../runtime/process/lingering.ts'
import type { Extent, FollowedEntry, ReadableLog, TailItem } from '../event-log.ts'
import { createBatchCache, PastTail } from './kept-past.ts'

export type SharedPastOptions = {
  /**
   * Maximum number of readers that read the past from the log at the same time, in all and per
   * account.
   */
  readonly pastReaders: number
  readonly pastReadersEach: number
  /** Approximate size of what is cached for other readers. */
  readonly pastBytes: number
  /** How long the cache outlives the last reader. */
  readonly keptMs: number
}

type TailOf = Pick<ReadableLog, 'tail'>
type Item = TailItem<FollowedEntry>
type Reading = {
  readonly accountId: string
  /** The number of entries it gets at first; it gets more as it continues. */
  readonly atFirst: number
}

/** How long a reader may read the log while other readers wait. */
const TURN_MS = 1_000
const FEWEST_AT_ONCE = 16
const MOST_AT_ONCE = 1_000

/**
 * The past of a log for all readers of this process. Entries read by one reader are cached for the
 * others, up to a size; few read the log at the same time, and accounts take turns. On Kafka a tail
 * of the log takes about a second to start, and much memory, so tails are cached too, for a reader
 * that continues at the same position.
 */
export function sharePast(
  log: TailOf,
  { stopping, ...options }: SharedPastOptions & { readonly stopping: AbortSignal },
) {
  const open = (signal: AbortSignal) => openPast(log, options, signal)
  const shared = createLingering({ open, lingersMs: options.keptMs, stopping })

  return {
    /** Returns tails for one reader. */
    of: (reading: Reading): TailOf => ({
      async *tail({ after, signal }) {
        if (after === 'end') {
          yield* log.tail({ after, signal })
          return
        }
        const { opened, leave } = shared.join()
        try {
          yield* opened.read({ ...reading, place: { ...after }, signal })
        } finally {
          leave()
        }
      },
    }),

    /** Forgets entries no longer in the log. */
    forgetLost(extent: readonly Extent[]): void {
      shared.at()?.forgetLost(extent)
    },
  }
}

function openPast(
  log: TailOf,
  { pastReaders, pastReadersEach, pastBytes }: SharedPastOptions,
  closing: AbortSignal,
) {
  const batches = createBatchCache(pastBytes)
  const slots = new Slots({ most: pastReaders, mostEach: pastReadersEach })
  /** Sorted with the most recently used tail last. */
  let tails: PastTail[] = []
  const wakes = new Set<() => void>()
  const wakeAll = () => [...wakes].forEach((wake) => wake())
  closing.addEventListener('abort', end, { once: true })

  async function* read({
    accountId,
    atFirst,
    place,
    signal,
  }: Reading & {
    place: Record<number, number>
    signal: AbortSignal
  }): AsyncGenerator<Item, void> {
    let turn: { readonly giveBack: GiveBack; readonly endsAt: number } | undefined
    let coming: Promise<GiveBack> | undefined
    let most = Math.max(atFirst, FEWEST_AT_ONCE)
    try {
      while (!signal.aborted && !closing.aborted) {
        let item: Item | undefined = batches.after(place, most)
        if (turn !== undefined && (item !== undefined || performance.now() > turn.endsAt)) {
          turn.giveBack()
          turn = undefined
        }
        if (item === undefined && turn === undefined) {
          coming ??= slots.wait(accountId)
          const giveBack = await waitForTurn(coming, place, signal)
          if (giveBack === undefined) continue
          coming = undefined
          turn = { giveBack, endsAt: performance.now() + TURN_MS }
          continue
        }
        item ??= await readOn(place, { most, signal })
        if (item === undefined) return
        most = Math.min(2 * most, MOST_AT_ONCE)
        place[item.partition] = item.kind === 'batch' ? item.lastOffset : item.after
        yield item
      }
    } finally {
      turn?.giveBack()
      coming?.then((giveBack) => giveBack()).catch(() => undefined)
    }
  }

  function end(): void {
    for (const tail of tails) tail.end()
    tails = []
    wakeAll()
  }

  /**
   * Resolves when it is this reader's turn; resolves without a turn if another reader has read the
   * following entries, or the reader ends.
   */
  function waitForTurn(
    coming: Promise<GiveBack>,
    place: Offsets,
    signal: AbortSignal,
  ): Promise<GiveBack | undefined> {
    return new Promise((resolve, reject) => {
      const end = () => {
        wakes.delete(look)
        signal.removeEventListener('abort', look)
      }
      function look(): void {
        if (!signal.aborted && !closing.aborted && !batches.holds(place)) return
        end()
        resolve(undefined)
      }
      wakes.add(look)
      signal.addEventListener('abort', look)
      coming.then(resolve, reject).finally(end)
    })
  }

  async function readOn(
    place: Offsets,
    { most, signal }: { most: number; signal: AbortSignal },
  ): Promise<Item | undefined> {
    const tail = openTail(place)
    const item = await tail.next(signal)
    if (tail.hasEnded) tails = tails.filter((one) => one !== tail)
    if (item?.kind === 'gap') batches.forget(item.partition)
    if (item?.kind !== 'batch') return item
    batches.add(place[item.partition] ?? -1, item)
    wakeAll()
    return batches.after(place, most) ?? item
  }

  /**
   * Returns the tail that continues at this position, or opens one in place of the longest idle.
   */
  function openTail(place: Offsets): PastTail {
    const found = tails.find((tail) => tail.isAt(place))
    const tail = found ?? new PastTail(log, place, closing)
    const others = tails.filter((one) => one !== found)
    if (found === undefined && others.length >= pastReaders) {
      const oldest = others.find(({ isBusy }) => !isBusy)
      oldest?.end()
      if (oldest !== undefined) others.splice(others.indexOf(oldest), 1)
    }
    tails = [...others, tail]
    return tail
  }

  return { read, forgetLost: (extent: readonly Extent[]) => batches.forgetLost(extent) }
}

/**
 * Reads the log's current extent, or reuses one of at most this age. Calls made while a request is
 * pending share the next request: the pending one may have started before them.
 */
export function shareExtent(
  log: Pick<ReadableLog, 'extent'>,
): (forMs?: number) => Promise<readonly Extent[]> {
  let last: Promise<unknown> = Promise.resolve()
  let next: Promise<readonly Extent[]> | undefined
  let known: { readonly at: number; readonly extent: readonly Extent[] } | undefined

  async function ask(): Promise<readonly Extent[]> {
    const at = performance.now()
    const extent = await log.extent()
    known = { at, extent }
    return extent
  }

  return async (forMs = 0) => {
    if (known !== undefined && performance.now() - known.at < forMs) return known.extent
    next ??= last.then(() => {
      next = undefined
      const asked = ask()
      last = asked.catch(() => undefined)
      return asked
    })
    return next
  }
}
