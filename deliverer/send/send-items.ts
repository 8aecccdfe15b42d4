import type {
  DeviceSubscription,
  SubscriptionSecrets,
  SubscriptionTarget,
} from '../../schemas/subscriptions/subscription.ts'
import { chatRequest } from '../render/chats.ts'
import { mailOf } from '../render/mail.ts'
import type { Told } from '../render/told.ts'
import { fittingItems, webhookBody, webhookItem } from '../render/webhook.ts'
import type { Answer, HttpClient, OutboundRequest } from './http-client.ts'
import type { SendMail } from './send-mail.ts'
import { signedHeaders } from './sign.ts'
import { withoutSecrets } from './without-secrets.ts'

const OWN_HEADERS = { 'content-type': 'application/json', 'user-agent': 'gps-position-ingestion' }

/** Items that are sent together, and the mark after each. */
export type ItemsToSend = {
  readonly subscription: DeviceSubscription
  readonly secrets: SubscriptionSecrets
  readonly told: readonly Told[]
  /** After the first n items. */
  readonly markAfter: (count: number) => string
  readonly now: number
}

export type Sent = {
  readonly answer: Answer
  /** The number of items, from the first one on, that were in it. */
  readonly count: number
  /** A warning for operators although the delivery succeeded. */
  readonly notice?: string | undefined
}

/** Sends items in the way of their subscription's target. */
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
    return { ...answer, text: withoutSecrets(answer.text, target) }
  }

  return async function sendItems(sending: ItemsToSend): Promise<Sent> {
    const { target } = sending.secrets
    const { told, subscription } = sending
    const zone = subscription.hours?.zone ?? 'UTC'
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
        return {
          answer: target.kind === 'telegram' ? withTelegramsPause(answer) : answer,
          count: 1,
        }
      }
      case 'email': {
        const mail = mailOf(told, { zone, consoleUrl })
        const { accountId } = subscription
        const sent = await sendMail({ accountId, to: target.to, mail, now: sending.now })
        const { notice, ...answer } = sent
        return { answer, count: told.length, notice }
      }
    }
  }
}

export type SendItems = ReturnType<typeof itemSender>

function webhookRequest(
  { url, headers, batch }: Extract<SubscriptionTarget, { kind: 'webhook' }>,
  { told, secrets, markAfter, now }: ItemsToSend,
): { readonly request: OutboundRequest; readonly count: number } {
  const rendered = told.map((one) => ({ id: one.item.id, json: webhookItem(one) }))
  const count = fittingItems(rendered)
  const mark = batch === undefined ? undefined : markAfter(count)
  const { id, body } = webhookBody(rendered.slice(0, count), { now, mark })
  const signing = secrets.signing
    .filter(({ until }) => until === undefined || until > now)
    .map(({ secret }) => secret)
  const signed = signedHeaders(body, { id, now, secrets: signing })
  return { request: { url, headers: { ...headers, ...OWN_HEADERS, ...signed }, body }, count }
}

/** Telegram says in its answer's body when to come again. */
function withTelegramsPause(answer: Answer): Answer {
  const [, seconds] = /"retry_after":\s*(\d{1,6})/.exec(answer.text) ?? []
  return seconds === undefined ? answer : { ...answer, retryAfterMs: Number(seconds) * 1_000 }
}
