import { createHmac } from 'node:crypto'
import { SIGNING_SECRET_PREFIX } from '../../schemas/access/random-secrets.ts'
import { recordView } from '../../schemas/devices/read-models.ts'
import { factView } from '../../schemas/facts/view.ts'
import type {
  SubscriptionSecrets,
  SubscriptionTarget,
} from '../../schemas/subscriptions/subscription.ts'
import { isoTime } from '../../schemas/text/iso-8601.ts'
import { batchId, itemSentence, type Told } from '../item.ts'
import type { OutboundRequest } from './http-client.ts'

const OWN_HEADERS = { 'content-type': 'application/json', 'user-agent': 'gps-position-ingestion' }
const MOST_BODY_BYTES = 256 * 1_024
/** What is around the items of a batch, with a mark of the most partitions. */
const ENVELOPE_BYTES = 16 * 1_024

/** The content of a request: one item, or a batch. */
type Content = { readonly id: string; readonly body: string }

/** The signed request of a webhook. `count`: the number of items, from the first one on, that are in it. */
export function webhookRequest(
  { url, headers, batch }: Extract<SubscriptionTarget, { kind: 'webhook' }>,
  {
    told,
    secrets,
    markAfter,
    now,
  }: {
    readonly told: readonly Told[]
    readonly secrets: SubscriptionSecrets
    readonly markAfter: (count: number) => string
    readonly now: number
  },
): { readonly request: OutboundRequest; readonly count: number } {
  const all = told.map((one) => ({ id: one.item.id, body: itemBody(one) }))
  const count = fittingItems(all)
  const items = all.slice(0, count)
  const { id, body } =
    batch === undefined ? items[0]! : batchOf(items, { now, mark: markAfter(count) })
  const signing = secrets.signing
    .filter(({ until }) => until === undefined || until > now)
    .map(({ secret }) => secret)
  const signed = signedHeaders(body, { id, now, secrets: signing })
  return { request: { url, headers: { ...headers, ...OWN_HEADERS, ...signed }, body }, count }
}

/** An item as a webhook tells it, as JSON. */
function itemBody(told: Told): string {
  const { item, deviceName } = told
  const timestamp = isoTime(item.at)
  switch (item.kind) {
    case 'fact': {
      const data = { ...factView(item.fact), deviceName, text: itemSentence(told) }
      return JSON.stringify({ type: item.fact.type, timestamp, data })
    }
    case 'position':
      return JSON.stringify({ type: 'position', timestamp, data: recordView(item.position) })
    case 'gap':
    case 'test':
      return JSON.stringify({ type: item.kind, timestamp, data: { text: itemSentence(told) } })
  }
}

/** The number of items, from the first one on, that fit in one request; at least one. */
function fittingItems(items: readonly Content[]): number {
  let bytes = ENVELOPE_BYTES
  const tooMuch = items.findIndex(({ body }) => {
    bytes += Buffer.byteLength(body) + 1
    return bytes > MOST_BODY_BYTES
  })
  return tooMuch === -1 ? items.length : Math.max(1, tooMuch)
}

/** `mark`: after the last item. */
function batchOf(items: readonly Content[], { now, mark }: { now: number; mark: string }): Content {
  const list = items.map(({ body }) => body).join()
  const end = JSON.stringify(mark)
  const body = `{"type":"batch","timestamp":"${isoTime(now)}","data":{"items":[${list}],"mark":${end}}}`
  return { id: batchId(items), body }
}

/**
 * The headers by which receivers verify a webhook, as https://www.standardwebhooks.com has them. `id`: the same for
 * every attempt; `now`: the time of this one. A receiver that knows one of the secrets accepts it.
 */
export function signedHeaders(
  body: string,
  { id, now, secrets }: { id: string; now: number; secrets: readonly string[] },
): Record<string, string> {
  const timestamp = String(Math.floor(now / 1_000))
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(SIGNING_SECRET_PREFIX.length), 'base64')
    const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`)
    return `v1,${signature.digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}
