import type { Clock } from '../../runtime/clock.ts'
import type { ReportRejected } from '../../schemas/events/report-rejected.ts'
import type { Rejections } from '../../store/rejections.ts'
import { rejectionView } from '../rejections.ts'
import type { LiveFeed } from '../../event-log/follow/live-feed.ts'
import { eventFrame } from './sse.ts'

/** Pushes an account's rejections into the ring as they are stored. */
export type NewRejections = { look(): Promise<void> }

const PAGE = 50
/** In a flood, older rejections appear only in the list. */
const MOST_AT_ONCE = 1_000
/** Several ingest APIs do not store rejections in the order of their times. */
const OUT_OF_ORDER_MS = 30_000
/** A new reader may have read the list before these were stored. */
const JUST_NOW_MS = 2_000

export function newRejections({
  accountId,
  feed,
  store,
  clock,
  signal,
}: {
  accountId: string
  feed: Pick<LiveFeed, 'push' | 'hasBegun'>
  store: Pick<Rejections, 'pageRejections'>
  clock: Clock
  signal: AbortSignal
}): NewRejections {
  const begunAt = clock.now()
  /** Rejections within `OUT_OF_ORDER_MS` of the newest, with their times. */
  let seen: ReadonlyMap<string, number> | undefined

  return {
    async look() {
      if (!feed.hasBegun()) return
      const newest = await readNewest(Math.max(...(seen?.values() ?? []), 0))
      if (signal.aborted) return
      const known = seen
      const fresh = newest.filter(({ rejectionId, receivedAt }) =>
        known === undefined ? receivedAt >= begunAt - JUST_NOW_MS : !known.has(rejectionId),
      )
      for (const rejection of fresh.reverse()) push(rejection)
      seen = new Map(newest.map(({ rejectionId, receivedAt }) => [rejectionId, receivedAt]))
    },
  }

  /** The newest rejections first, and earlier ones than `last` that may have been stored since. */
  async function readNewest(last: number): Promise<ReportRejected[]> {
    const rejections: ReportRejected[] = []
    while (rejections.length < MOST_AT_ONCE && !signal.aborted) {
      const after = rejections.at(-1)?.rejectionId
      const page = await store.pageRejections({
        accountId,
        limit: PAGE,
        ...(after !== undefined && { after }),
      })
      const since = Math.max(last, page[0]?.receivedAt ?? 0, rejections[0]?.receivedAt ?? 0)
      const near = page.filter(({ receivedAt }) => receivedAt >= since - OUT_OF_ORDER_MS)
      rejections.push(...near)
      if (near.length < PAGE) break
    }
    return rejections
  }

  function push(rejection: ReportRejected): void {
    const { deviceId } = rejection
    feed.push({
      kind: 'aside',
      name: 'rejection',
      isErasable: false,
      accountId,
      ...(deviceId !== undefined && { deviceId }),
      text: eventFrame('rejection', JSON.stringify(rejectionView(rejection))),
    })
  }
}
