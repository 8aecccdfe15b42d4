import { LRUCache } from 'lru-cache'
import type { FeedItem, Feeds } from '../../event-log/feeds.ts'
import type { DeviceFact } from '../../schemas/facts/facts.ts'
import { deviceKey, type PositionReported } from '../../schemas/events/position-reported.ts'
import { isSelected } from '../../schemas/definitions/selection.ts'
import type { DeviceSubscription, WaitingItems } from '../../schemas/subscriptions/subscription.ts'
import {
  deviceIdOf,
  factItem,
  positionItem,
  type Item,
  type Told,
} from '../../schemas/subscriptions/item.ts'
import type { Store } from '../../store/store.ts'
import { ageOf, wants } from './wanted.ts'

export type ItemStore = Pick<Store, 'findDevices' | 'findPosition' | 'findFacts'>

/** Items for a receiver, and the marks after them. */
export type NextItems = {
  readonly told: readonly Told[]
  /** The mark after the first n items. */
  readonly markAfter: (count: number) => string
  /** The mark after everything read. */
  readonly mark: string
  readonly end: boolean
  readonly gap: boolean
  /** The number of items that waited too long for a failing receiver. */
  readonly leftOut: number
}

type ItemsQuery = {
  readonly mark: string
  readonly limit: number
  readonly waitMs: number
  readonly now: () => number
  readonly signal: AbortSignal
}

/**
 * Page sizes double while a page contains nothing wanted, so that little is read twice where much
 * is wanted.
 */
const MOST_AT_ONCE = 500
/** The mark is saved after this many entries. */
const MOST_PASSED_OVER = 50_000

/** Maximum age of cached device data: every subscription looks up the same devices. */
const DEVICES_KNOWN_MS = 2_000
const MOST_DEVICES_KNOWN = 10_000

const COUNTED_AT_ONCE = 1_000
const MOST_COUNTED = 10_000

type KnownDevice = { readonly name?: string | undefined; readonly labels: readonly string[] }

/** Finds the items that subscriptions send, with the names of their devices. */
export function itemReader({ feeds, store }: { feeds: Feeds; store: ItemStore }) {
  const known = new LRUCache<string, Promise<KnownDevice>>({
    max: MOST_DEVICES_KNOWN,
    ttl: DEVICES_KNOWN_MS,
  })

  /** Looks up all unknown devices together. */
  function devicesOf(accountId: string, deviceIds: readonly string[]): Promise<KnownDevice[]> {
    const keyOf = (deviceId: string) => deviceKey({ accountId, deviceId })
    const found = new Map(Array.from(new Set(deviceIds), (id) => [id, known.get(keyOf(id))]))
    const missing = [...found.keys()].filter((deviceId) => found.get(deviceId) === undefined)
    const asked = missing.length > 0 ? lookUp(accountId, missing) : undefined
    for (const deviceId of missing) {
      const device = asked?.then((devices) => devices.get(deviceId) ?? { labels: [] })
      device?.catch(() => known.delete(keyOf(deviceId)))
      known.set(keyOf(deviceId), device)
      found.set(deviceId, device)
    }
    return Promise.all(deviceIds.map((deviceId) => found.get(deviceId)!))
  }

  async function lookUp(
    accountId: string,
    deviceIds: readonly string[],
  ): Promise<ReadonlyMap<string, KnownDevice>> {
    const devices = await store.findDevices({ accountId, deviceIds })
    return new Map(
      devices.map(({ status, settings: { name, labels } }): [string, KnownDevice] => [
        status.deviceId,
        { name, labels: labels ?? [] },
      ]),
    )
  }

  async function tell(accountId: string, items: readonly Item[]) {
    const deviceIds = items.map((item) => deviceIdOf(item) ?? '')
    const devices = await devicesOf(accountId, deviceIds)
    return items.map((item, place) => {
      const { name, labels } = devices[place]!
      const deviceId = deviceIds[place]!
      return { told: { item, deviceName: name ?? deviceId }, deviceId, labels }
    })
  }

  /**
   * Reads one page of the feed. Events do not contain labels, so these are looked up for all the
   * page's devices together.
   */
  async function pageOf(
    subscription: DeviceSubscription,
    { mark: after, now, ...query }: ItemsQuery,
  ) {
    const { accountId, source, labels } = subscription
    const tooLate: string[] = []
    const isToSend = (event: DeviceFact | PositionReported) => {
      const age = ageOf(subscription, event, now())
      const isWanted = age !== 'too old' && wants(subscription, event)
      if (isWanted && age === 'omitted') tooLate.push(event.deviceId)
      return isWanted && age === 'sent'
    }
    const feed = source === 'facts' ? feeds.facts : feeds.positions
    const page = await feed.read({ ...query, accountId, after, wants: isToSend })
    const found = (page.items as readonly FeedItem<DeviceFact | PositionReported>[]).flatMap(
      (entry) => {
        const item = itemOf(entry)
        return item === undefined ? [] : [{ item, mark: entry.mark }]
      },
    )
    const all = await tell(
      accountId,
      found.map(({ item }) => item),
    )
    const kept = all.flatMap(({ told, ...device }, place) =>
      labels === undefined || isSelected(subscription, device)
        ? [{ told, mark: found[place]!.mark }]
        : [],
    )
    return { ...page, kept, leftOut: await countSelected(subscription, tooLate) }
  }

  /** The number of devices in a list, possibly with repeats, that a subscription is about. */
  async function countSelected(subscription: DeviceSubscription, deviceIds: readonly string[]) {
    if (subscription.labels === undefined || deviceIds.length === 0) return deviceIds.length
    const devices = await devicesOf(subscription.accountId, deviceIds)
    return devices.filter(({ labels }, place) =>
      isSelected(subscription, { deviceId: deviceIds[place]!, labels }),
    ).length
  }

  /** The items after a mark. */
  async function readAfter(
    subscription: DeviceSubscription,
    { mark: from, limit, ...query }: ItemsQuery,
  ): Promise<NextItems> {
    let mark = from
    let leftOut = 0
    for (let size = limit, read = 0; ; size = Math.max(limit, Math.min(2 * size, MOST_AT_ONCE))) {
      const page = await pageOf(subscription, { ...query, mark, limit: size })
      read += size
      leftOut += page.leftOut
      const { kept, end, gap } = page
      const isLast = end || gap || query.signal.aborted || read >= MOST_PASSED_OVER
      if (kept.length === 0 && subscription.labels !== undefined && !isLast) {
        mark = page.mark
        continue
      }
      const fitting = kept.slice(0, limit)
      const hasRest = fitting.length < kept.length
      const last = hasRest ? (fitting.at(-1)?.mark ?? from) : page.mark
      return {
        told: fitting.map(({ told }) => told),
        markAfter: (count) => (count >= fitting.length ? last : (fitting[count - 1]?.mark ?? from)),
        mark: last,
        end: end && !hasRest,
        gap,
        leftOut,
      }
    }
  }

  return {
    after: readAfter,

    /** The items with these ids that still exist. */
    async readByIds(
      { accountId, source }: DeviceSubscription,
      ids: readonly string[],
    ): Promise<readonly Told[]> {
      const found: Item[] = []
      if (source === 'facts') {
        const facts = await store.findFacts({ accountId, ids })
        const byId = new Map(facts.map((fact) => [fact.id, fact]))
        for (const id of ids) {
          const fact = byId.get(id)
          if (fact !== undefined) found.push(factItem(fact))
        }
      } else {
        for (const id of ids) {
          const position = await store.findPosition({ accountId, recordId: id })
          if (position !== undefined) found.push(positionItem(position))
        }
      }
      return (await tell(accountId, found)).map(({ told }) => told)
    },

    /**
     * Counts waiting items, up to 10 000; continues where the last count ended, so every entry is
     * read once.
     */
    async count(
      subscription: DeviceSubscription,
      query: Pick<ItemsQuery, 'now' | 'signal'>,
    ): Promise<WaitingItems> {
      const { mark, waiting } = subscription.progress
      let result = waiting ?? { count: 0, more: false, mark }
      while (result.count < MOST_COUNTED && !query.signal.aborted) {
        const from = { mark: result.mark, limit: COUNTED_AT_ONCE, waitMs: 0 }
        const page = await readAfter(subscription, { ...from, ...query })
        const count = result.count + page.told.length
        result = { count, more: !page.end, mark: page.mark }
        if (page.end) break
      }
      return result
    },
  }
}

/** An item of a page, without erasures. */
function itemOf(item: FeedItem<DeviceFact | PositionReported>): Item | undefined {
  if (item.kind === 'erasure') return undefined
  return 'recordId' in item.event ? positionItem(item.event) : factItem(item.event)
}

export type ItemReader = ReturnType<typeof itemReader>
