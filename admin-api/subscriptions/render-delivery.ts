import {
  deviceIdOf,
  factItem,
  itemSentence,
  positionItem,
  testItem,
  type Item,
  type Told,
} from '../../schemas/subscriptions/item.ts'
import { chatRequest, mailOf } from '../../schemas/subscriptions/messages.ts'
import type {
  DeviceSubscription,
  ShownTarget,
  SubscriptionDelivery,
} from '../../schemas/subscriptions/subscription.ts'
import { WEBHOOK_HEADERS, webhookContent } from '../../schemas/subscriptions/webhook-body.ts'
import type { Store } from '../../store/store.ts'

type Stores = Pick<Store, 'findFacts' | 'findPosition' | 'findDevices'>

/** A request without its secrets. */
export type RenderedRequest = {
  /** Scheme and host; for a mail, its recipients. */
  readonly to: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const GAP = 'Some events before the next ones were not sent.'
/**
 * Replaces a batch's mark, which is not stored: it makes clear that a copied body has no valid
 * mark.
 */
const RENDERED_AGAIN = 'rendered again'

/**
 * Finds the items of deliveries that still exist, by id, with the current names of their devices.
 */
export async function findTold(
  store: Stores,
  { accountId, source }: Pick<DeviceSubscription, 'accountId' | 'source'>,
  deliveries: readonly Pick<SubscriptionDelivery, 'ids' | 'at'>[],
): Promise<ReadonlyMap<string, Told>> {
  const items = new Map<string, Item>()
  const stored: string[] = []
  for (const { ids, at } of deliveries) {
    for (const id of ids) {
      if (id.startsWith('test_')) items.set(id, testItem(id, at))
      else if (!id.startsWith('gap_')) stored.push(id)
    }
  }
  if (source === 'facts') {
    const facts = await store.findFacts({ accountId, ids: [...new Set(stored)] })
    for (const fact of facts) items.set(fact.id, factItem(fact))
  } else {
    for (const recordId of new Set(stored)) {
      const position = await store.findPosition({ accountId, recordId })
      if (position !== undefined) items.set(recordId, positionItem(position))
    }
  }
  const deviceIds = [...new Set([...items.values()].flatMap((item) => deviceIdOf(item) ?? []))]
  const devices = await store.findDevices({ accountId, deviceIds })
  const names = new Map(devices.map(({ status, settings }) => [status.deviceId, settings.name]))
  return new Map(
    [...items].map(([id, item]) => {
      const deviceId = deviceIdOf(item) ?? ''
      return [id, { item, deviceName: names.get(deviceId) ?? deviceId }]
    }),
  )
}

/** Formats an item as a sentence; undefined if it no longer exists. */
export function renderItem(id: string, told: ReadonlyMap<string, Told>): string | undefined {
  if (id.startsWith('gap_')) return GAP
  const one = told.get(id)
  return one && itemSentence(one)
}

/**
 * The request with these items, as it would be rendered now for this attempt; undefined: no items
 * are left.
 */
export function renderRequest(
  { target, zone, hours }: Pick<DeviceSubscription, 'target' | 'zone' | 'hours'>,
  told: readonly Told[],
  now: number,
): RenderedRequest | undefined {
  const [first] = told
  if (first === undefined) return undefined
  const shownZone = zone ?? hours?.zone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone
  switch (target.kind) {
    case 'webhook': {
      const { id, body } = webhookContent(told, {
        batch: target.batch,
        now,
        markAfter: () => RENDERED_AGAIN,
      })
      const timestamp = String(Math.floor(now / 1_000))
      const headers = { ...WEBHOOK_HEADERS, 'webhook-id': id, 'webhook-timestamp': timestamp }
      return { to: target.url, headers, body }
    }
    case 'email': {
      const { subject, text } = mailOf(told, { zone: shownZone, consoleUrl: undefined })
      return { to: target.to.join(', '), headers: { subject }, body: text }
    }
    case 'ntfy':
    case 'slack':
    case 'telegram': {
      const { url, headers, body } = chatRequest(maskToken(target), first, shownZone)
      return { to: new URL(url).origin, headers, body }
    }
  }
}

type ShownChat = Exclude<ShownTarget, { kind: 'webhook' | 'email' }>

/** Only the request URLs contain a bot's token. */
function maskToken(target: ShownChat): Parameters<typeof chatRequest>[0] {
  return target.kind === 'telegram' ? { ...target, token: '' } : target
}
