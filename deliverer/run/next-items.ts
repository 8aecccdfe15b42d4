import type { FeedItem, Feeds } from '../../event-log/feeds.ts'
import type { DeviceFact } from '../../schemas/facts.ts'
import type { PositionReported } from '../../schemas/position-reported.ts'
import { isSelected } from '../../schemas/selection.ts'
import type { DeviceSubscription } from '../../schemas/subscription.ts'
import type { Store } from '../../store/store.ts'
import { deviceIdOf, itemOf, positionItem, factItem, type Item } from '../item.ts'
import type { Told } from '../render/told.ts'
import { wants } from '../wanted.ts'

export type ItemStore = Pick<Store, 'findDevices' | 'findPosition' | 'pageFacts'>

/** Items for a receiver, and the marks after them. */
export type NextItems = {
  readonly told: readonly Told[]
  /** After the first n of them. */
  readonly markAfter: (count: number) => string
  /** After all that was read. */
  readonly mark: string
  readonly end: boolean
  readonly gap: boolean
}

const ULID_TIME_SIGNS = 10
const ULID_ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** Finds the items that a subscription sends, with the names of their devices. */
export function itemReader({ feeds, store }: { feeds: Feeds; store: ItemStore }) {
  async function tell(accountId: string, items: readonly Item[]) {
    const deviceIds = [...new Set(items.flatMap((item) => deviceIdOf(item) ?? []))]
    const devices = deviceIds.length === 0 ? [] : await store.findDevices({ accountId, deviceIds })
    const byId = new Map(devices.map((device) => [device.status.deviceId, device.settings]))
    return items.map((item) => {
      const deviceId = deviceIdOf(item) ?? ''
      const { name, labels } = byId.get(deviceId) ?? {}
      return { told: { item, deviceName: name ?? deviceId }, deviceId, labels: labels ?? [] }
    })
  }

  return {
    /** The items after a mark. */
    async after(
      subscription: DeviceSubscription,
      {
        mark: after,
        limit,
        waitMs,
        now,
        signal,
      }: {
        mark: string
        limit: number
        waitMs: number
        now: () => number
        signal: AbortSignal
      },
    ): Promise<NextItems> {
      const { accountId, source, labels } = subscription
      const query = {
        accountId,
        after,
        limit,
        wants: (event: DeviceFact | PositionReported) => wants(subscription, event, now()),
        waitMs,
        signal,
      }
      const page = await (source === 'facts'
        ? feeds.facts.read(query)
        : feeds.positions.read(query))
      const found = (page.items as readonly FeedItem<DeviceFact | PositionReported>[]).flatMap(
        (one) => {
          const item = itemOf(one)
          return item === undefined ? [] : [{ item, at: one }]
        },
      )
      const all = await tell(
        accountId,
        found.map(({ item }) => item),
      )
      const kept = all.flatMap(({ told, ...device }, place) => {
        const at = found[place]?.at
        const isKept = labels === undefined || isSelected(subscription, device)
        return isKept && at !== undefined ? [{ told, at }] : []
      })
      return {
        told: kept.map(({ told }) => told),
        markAfter: (count) =>
          count >= kept.length ? page.mark : (kept[count - 1]?.at.mark ?? after),
        mark: page.mark,
        end: page.end,
        gap: page.gap,
      }
    },

    /** The items with these ids that still exist. */
    async byIds(
      { accountId, source }: DeviceSubscription,
      ids: readonly string[],
    ): Promise<readonly Told[]> {
      const found: Item[] = []
      for (const id of ids) {
        if (source === 'positions') {
          const position = await store.findPosition({ accountId, recordId: id })
          if (position !== undefined) found.push(positionItem(position))
        } else {
          const at = timeIn(id)
          // The page after an id that is just greater begins with this one.
          const after = { at, id: `${id}!` }
          const [fact] = await store.pageFacts({ accountId, from: at, after, limit: 1 })
          if (fact?.id === id) found.push(factItem(fact))
        }
      }
      return (await tell(accountId, found)).map(({ told }) => told)
    },
  }
}

export type ItemReader = ReturnType<typeof itemReader>

/** The time of a ULID; that of a fact is its `at`. */
function timeIn(id: string): number {
  return [...id.slice(0, ULID_TIME_SIGNS)].reduce(
    (time, sign) => time * 32 + Math.max(0, ULID_ALPHABET.indexOf(sign)),
    0,
  )
}
