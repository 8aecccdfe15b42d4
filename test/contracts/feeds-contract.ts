import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import type { EventLog, LogBatch } from '../../event-log/event-log.ts'
import type { FactLog, FactTopic } from '../../event-log/fact-log.ts'
import type { Feed, FeedItem, FeedPage, FeedQuery, Feeds } from '../../event-log/feeds.ts'
import { openFeeds, type FeedsOptions } from '../../event-log/reading/open-feeds.ts'
import { endOf, hasReached } from '../../event-log/offsets.ts'
import { deviceStatus, FOLD_VERSION } from '../../projector/device-status.ts'
import type { FactState } from '../../schemas/facts/fact-state.ts'
import type { DeviceFact } from '../../schemas/facts/facts.ts'
import type { PositionReported } from '../../schemas/events/position-reported.ts'
import type { ProjectionEntry } from '../../store/read-models.ts'
import type { Store } from '../../store/store.ts'
import { eventually } from '../eventually.ts'
import { deviceErased, positionReported, T0 } from '../samples.ts'

/** A log and a store, empty at first. */
export type OpenedLogs = {
  readonly eventLog: EventLog
  readonly factLog: FactLog
  /** Where facts are published, if they are not read from the store. */
  readonly topic?: FactTopic
  readonly store: Store
  close(): Promise<void>
}

const accountId = 'acc-1'
const SOON = { withinMs: 30_000 }

/** Feeds of positions and facts: nothing is missed, in order, also after a restart or on another process. */
export function feedsContract(openLogs: () => Promise<OpenedLogs>): void {
  let opened: OpenedLogs
  let stopping: AbortController
  let projecting: Promise<void>

  beforeEach(() => open())
  afterEach(() => close())

  async function open(): Promise<void> {
    stopping = new AbortController()
    opened = await openLogs()
    projecting = opened.eventLog.subscribe({
      group: 'projector',
      resumeAfter: () => opened.store.checkpoint(),
      onBatch: project,
      signal: stopping.signal,
    })
  }

  async function close(): Promise<void> {
    stopping.abort()
    await projecting
    await opened.close()
  }

  /** Like the projector. */
  async function project(batch: LogBatch): Promise<void> {
    const entries = batch.entries as readonly ProjectionEntry[]
    for (const entry of entries) {
      if (entry.kind !== 'erasure') continue
      await opened.store.eraseFacts(entry)
      await opened.topic?.erase(entry.event)
    }
    await opened.store.project({ ...batch, entries, fold: deviceStatus, foldVersion: FOLD_VERSION })
  }

  async function untilProjected(): Promise<void> {
    const end = endOf(await opened.eventLog.extent())
    await eventually(async () => hasReached(await opened.store.checkpoint(), end), SOON)
  }

  function feeds(options: Partial<FeedsOptions> = {}): Feeds {
    const logger = { debug() {}, warn() {}, error() {} }
    const { eventLog, factLog, store } = opened
    return openFeeds({
      eventLog,
      factLog,
      store,
      logger,
      stopping: stopping.signal,
      options: { retryMs: 10, ...options },
    })
  }

  /** The promises of both feeds, even if the live reader no longer holds the entries. */
  describe.each([
    { name: 'positions' as const, append: appendPositions, idOf: recordIdOf },
    { name: 'facts' as const, append: appendFacts, idOf: factIdOf },
  ])('the feed of $name', ({ name, append, idOf }) => {
    type Event = DeviceFact & PositionReported
    const feedOf = (options?: Partial<FeedsOptions>) =>
      feeds(options)[name] as object as Feed<Event>
    const read = (feed: Feed<Event>, query: Partial<FeedQuery<Event>> & { after: string }) =>
      feed.read({ accountId, limit: 100, wants: () => true, signal: stopping.signal, ...query })
    const ids = ({ items }: FeedPage<Event>) => items.map(({ event }) => idOf(event as Event))

    test.each([{ ringEntries: 1_000 }, { ringEntries: 4 }])(
      'the pages have every item once, oldest first, with a ring of $ringEntries',
      async (options) => {
        const appended = await append(7)
        const feed = feedOf(options)
        const found: string[] = []
        let page: FeedPage<Event> | undefined
        let after = await feed.markAt('start')
        while (page?.end !== true) {
          page = await read(feed, { after, limit: 3 })
          found.push(...ids(page))
          expect(page.items.length).toBeLessThanOrEqual(3)
          expect(page.gap).toBe(false)
          after = page.mark
        }
        expect(found).toEqual(appended)
        const more = await append(2)
        await eventually(async () => {
          const next = await read(feed, { after })
          return next.items.length === 2 && ids(next).join() === more.join()
        })
      },
    )

    test.each([{ ringEntries: 1_000 }, { ringEntries: 4 }])(
      'the mark of each item continues right after it, in another process too ($ringEntries)',
      async (options) => {
        const appended = await append(7)
        const feed = feedOf()
        const { items } = await read(feed, { after: await feed.markAt('start') })
        const other = feedOf(options)
        for (const [at, { mark }] of items.entries()) {
          expect(ids(await read(other, { after: mark }))).toEqual(appended.slice(at + 1))
        }
      },
    )

    test('items are only the requested events of the caller’s account', async () => {
      const [first] = await append(3)
      await append(2, { accountId: 'acc-2' })
      const feed = feedOf()
      const after = await feed.markAt('start')
      const page = await read(feed, { after, wants: (event) => idOf(event) === first })
      expect(ids(page)).toEqual([first])
      expect(page.end).toBe(true)
      const others = await read(feed, { after, accountId: 'acc-2' })
      expect(others.items).toHaveLength(2)
    })

    test('a call reads a limited number of entries, and its mark continues after them', async () => {
      const appended = await append(1_200)
      const feed = feedOf({ ringEntries: 4, mostEntries: 700 })
      const last = appended.at(-1)
      const wants = (event: Event) => idOf(event) === last
      const first = await read(feed, { after: await feed.markAt('start'), wants })
      expect(first).toMatchObject({ items: [], end: false, gap: false })
      const second = await read(feed, { after: first.mark, wants })
      expect(ids(second)).toEqual([last])
    })

    test('a call at the end waits for the first item', async () => {
      await append(1)
      const feed = feedOf()
      const after = await feed.markAt('end')
      const waiting = read(feed, { after, waitMs: 60_000 })
      await read(feed, { after })
      const [next] = await append(1)
      expect(ids(await waiting)).toEqual([next])
    })

    test('a wait can end without an item, at the same mark', async () => {
      await append(1)
      const feed = feedOf()
      const after = await feed.markAt('end')
      const page = await read(feed, { after, waitMs: 30 })
      expect(page).toMatchObject({ items: [], end: true, gap: false })
      const ending = new AbortController()
      const waiting = read(feed, { after, waitMs: 60_000, signal: ending.signal })
      ending.abort()
      await waiting.catch(() => undefined)
    })

    test('a feed can start at a time', async () => {
      await append(4)
      const feed = feedOf()
      const everything = await read(feed, { after: await feed.markAt(T0) })
      expect(everything.items).toHaveLength(4)
      const nothing = await read(feed, { after: await feed.markAt(T0 + 10 * 24 * 3_600_000) })
      expect(nothing).toMatchObject({ items: [], end: true })
    })

    test('if retention has passed the mark, the page says so and continues with the rest', async () => {
      const day = 24 * 3_600_000
      const feed = feedOf({ ringEntries: 4 })
      const before = await feed.markAt('start')
      await append(3)
      const kept = await append(6, { time: T0 + 2 * day })
      await opened.eventLog.trim(T0 + day)
      await opened.store.expireFacts(T0 + day)
      const page = await read(feed, { after: before })
      expect(page.gap).toBe(true)
      expect(ids(page)).toEqual(kept)
      const start = await read(feed, { after: await feed.markAt('start') })
      expect(start.gap).toBe(false)
      expect(ids(start)).toEqual(kept)
    })

    test('the mark of another log causes a gap', async () => {
      await append(3)
      const { mark } = await read(feedOf(), { after: await feedOf().markAt('start') })
      await close()
      await open()
      const others = await append(5, { time: T0 + 77_000 })
      const page = await read(feedOf(), { after: mark })
      expect(page.gap).toBe(true)
      expect(ids(page)).toEqual(others)
    })

    test('erasures are items on request, and remove the events before them', async () => {
      const gone = await append(2, { deviceId: 'gone' })
      const stays = await append(1)
      const erasure = await erase('gone')
      const again = await append(1, { deviceId: 'gone' })
      for (const ringEntries of [1_000, 4]) {
        const feed = feedOf({ ringEntries })
        const after = await feed.markAt('start')
        const page = await read(feed, { after, wantsErasure: () => true })
        const shown = page.items.map((item: FeedItem<Event>) =>
          item.kind === 'erasure' ? item.event.eventId : idOf(item.event),
        )
        // Other devices may be in other partitions.
        expect(new Set(shown)).toEqual(new Set([...stays, erasure.eventId, ...again]))
        expect(shown.indexOf(erasure.eventId)).toBeLessThan(shown.indexOf(again[0]!))
        const without = ids(await read(feed, { after }))
        expect(new Set(without)).toEqual(new Set([...stays, ...again]))
        expect(gone).toHaveLength(2)
      }
    })

    test('once an erasure is confirmed, events of the device are no longer items', async () => {
      await append(2, { deviceId: 'gone' })
      const feed = feedOf()
      const after = await feed.markAt('start')
      expect((await read(feed, { after })).items).toHaveLength(2)
      const erasure = deviceErased({ accountId, deviceId: 'gone' })
      await opened.store.hideErased(erasure)
      await opened.eventLog.erase(erasure)
      await eventually(async () => (await read(feed, { after })).items.length === 0, SOON)
    })

    test('a mark of another feed, or a changed one, is rejected', async () => {
      await append(2)
      const { positions, facts } = feeds()
      const [own, other] = name === 'facts' ? [facts, positions] : [positions, facts]
      for (const place of ['start', 'end', T0] as const) {
        const mark = await own.markAt(place)
        expect(own.isMark(mark)).toBe(true)
        expect(other.isMark(mark)).toBe(false)
        expect(own.isMark(mark.slice(1))).toBe(false)
      }
      await expect(read(own as object as Feed<Event>, { after: 'rubbish' })).rejects.toThrow(
        /not a mark/,
      )
    })

    test('readers of the past beyond the limit are rejected, and may retry', async () => {
      await append(9)
      let free = false
      const takeTurn = () => (free ? () => undefined : undefined)
      const feed = feedOf({ ringEntries: 4, takeTurn })
      const after = await feed.markAt('start')
      await expect(read(feed, { after })).rejects.toMatchObject({
        retriable: true,
        message: expect.stringContaining('too many readers read the past'),
      })
      free = true
      expect((await read(feed, { after })).items).toHaveLength(9)
    })
  })

  test.each([1_000, 4])('imported positions never appear (a ring of %d)', async (ringEntries) => {
    await appendPositions(5, { imported: true })
    const own = await appendPositions(1)
    const { positions } = feeds({ ringEntries })
    const query = { accountId, limit: 9, wants: () => true, signal: stopping.signal }
    const page = await positions.read({ ...query, after: await positions.markAt('start') })
    expect(page.items.map(({ event }) => recordIdOf(event as never))).toEqual(own)
    expect(page.end).toBe(true)
  })

  async function appendPositions(count: number, changes: Appended = {}): Promise<string[]> {
    const { time, ...others } = changes
    const events = Array.from({ length: count }, () =>
      positionReported({ accountId, ...others, ...(time !== undefined && { receivedAt: time }) }),
    )
    await opened.eventLog.append(events)
    await untilProjected()
    return events.map(recordIdOf)
  }

  let sequence = 0

  async function appendFacts(count: number, changes: Appended = {}): Promise<string[]> {
    const { time = T0, deviceId = 'van-1', accountId: account = accountId } = changes
    const facts = Array.from({ length: count }, (): DeviceFact => {
      sequence += 1
      return {
        type: 'device.online',
        previous: null,
        inside: [],
        deviceId,
        accountId: account,
        id: `01KDVN9C04${String(sequence).padStart(16, '0')}`,
        sequence,
        at: time,
        decidedAt: time,
      }
    })
    const device = { accountId: account, deviceId }
    const judge = (before: FactState | undefined) => ({ state: { ...STATE, ...before }, facts })
    const { topic } = opened
    const publish = topic && ((decided: readonly DeviceFact[]) => topic.append(decided))
    await opened.store.judgeFacts({ devices: [{ ...device, judge }], publish })
    return facts.map(factIdOf)
  }

  async function erase(deviceId: string) {
    const erasure = deviceErased({ accountId, deviceId, erasedAt: T0 })
    await opened.store.hideErased(erasure)
    await opened.eventLog.erase(erasure)
    await untilProjected()
    return erasure
  }
}

type Appended = {
  readonly accountId?: string
  readonly deviceId?: string
  readonly time?: number
  readonly imported?: true
}

const STATE: FactState = { sequence: 0, applied: {}, due: null }

function recordIdOf({ recordId }: { readonly recordId: string }): string {
  return recordId
}

function factIdOf({ id }: { readonly id: string }): string {
  return id
}
