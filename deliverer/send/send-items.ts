import { createHmac } from 'node:crypto'
import { SIGNING_SECRET_PREFIX } from '../../schemas/access/random-secrets.ts'
import type {
  DeviceSubscription,
  SubscriptionSecrets,
  SubscriptionTarget,
} from '../../schemas/subscriptions/subscription.ts'
import type { Told } from '../../schemas/subscriptions/item.ts'
import { WEBHOOK_HEADERS, webhookContent } from '../../schemas/subscriptions/webhook-body.ts'
import { explainAnswer, maskSecrets } from './answer-text.ts'
import type { Answer, HttpClient } from './http-client.ts'
import type { SendMail } from './mail.ts'
import { chatRequest, mailOf, type OutboundRequest } from '../../schemas/subscriptions/messages.ts'

/** Items that are sent together, and the mark after each. */
export type ItemsToSend = {
  readonly subscription: DeviceSubscription
  readonly secrets: SubscriptionSecrets
  readonly told: readonly Told[]
  /** The mark after the first n items. */
  readonly markAfter: (count: number) => string
  readonly now: number
  /** Limits a mail to these recipients. */
  readonly to?: readonly string[] | undefined
}

export type Sent = {
  readonly answer: Answer
  /** The number of items, from the first on, in the request. */
  readonly count: number
  /** A warning for operators although the delivery succeeded. */
  readonly notice?: string | undefined
  /** The recipients temporarily refused by the mail server. */
  readonly late?: readonly string[] | undefined
}

/** Sends items in the form required by their subscription's target. */
export function itemSender({
  http,
  sendMail,
  consoleUrl,
}: {
  http: HttpClient
  sendMail: SendMail
  consoleUrl: string | undefined
}) {
  async function post(request: OutboundRequest, target: SubscriptionTarget): Promise<Answer> {
    const answer = await http.post(request)
    return { ...answer, text: maskSecrets(answer.text, target) }
  }

  return async function sendItems(sending: ItemsToSend): Promise<Sent> {
    const { target } = sending.secrets
    const { told, subscription } = sending
    const zone = subscription.zone ?? subscription.hours?.zone ?? localZone()
    const [first] = told
    if (first === undefined) throw new Error('there is nothing to send')
    switch (target.kind) {
      case 'webhook': {
        const { request, count } = webhookRequest(target, sending)
        return { answer: await post(request, target), count }
      }
      case 'ntfy':
      case 'telegram':
      case 'slack': {
        const answer = await post(chatRequest(target, first, zone), target)
        return { answer: explainAnswer(answer), count: 1 }
      }
      case 'email': {
        const mail = mailOf(told, { zone, consoleUrl })
        const { accountId } = subscription
        const { to = target.to, now } = sending
        const { notice, late, ...answer } = await sendMail({ accountId, to, mail, now })
        return { answer, count: told.length, notice, late }
      }
    }
  }
}

/** The server's time zone: `TZ`, or the system's. */
function localZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone
}

export type SendItems = ReturnType<typeof itemSender>

/** The signed request of a webhook. `count`: the number of items in it, from the first on. */
function webhookRequest(
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
  const { id, body, count } = webhookContent(told, { batch, now, markAfter })
  const signing = secrets.signing
    .filter(({ until }) => until === undefined || until > now)
    .map(({ secret }) => secret)
  const signed = signHeaders(body, { id, now, secrets: signing })
  return { request: { url, headers: { ...headers, ...WEBHOOK_HEADERS, ...signed }, body }, count }
}

/**
 * The headers by which receivers verify a webhook, as specified by
 * https://www.standardwebhooks.com. `id`: the same for every attempt; `now`: the time of this
 * attempt. A receiver that knows one of the secrets accepts it.
 */
export function signHeaders(
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
