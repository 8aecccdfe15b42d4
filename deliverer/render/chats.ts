import type { OutboundRequest } from '../send/http-client.ts'
import type { SubscriptionTarget } from '../../schemas/subscriptions/subscription.ts'
import { timedSentence, titleOf, type Told } from './told.ts'

type TargetOf<Kind> = Extract<SubscriptionTarget, { kind: Kind }>
type Chat = TargetOf<'ntfy' | 'telegram' | 'slack'>

const JSON_BODY = { 'content-type': 'application/json' }
const TELEGRAM = 'https://api.telegram.org'

/** A sentence as a chat takes it, without anything in it that the chat would act on. */
export function chatRequest(target: Chat, told: Told, zone: string): OutboundRequest {
  const sentence = timedSentence(told, zone)
  switch (target.kind) {
    case 'ntfy': {
      const { url, token } = target
      const headers = {
        'content-type': 'text/plain; charset=utf-8',
        title: encodedHeader(titleOf(told)),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      }
      return { url, headers, body: sentence }
    }
    case 'telegram': {
      const { token, chatId } = target
      const body = { chat_id: chatId, text: sentence, link_preview_options: { is_disabled: true } }
      const url = `${TELEGRAM}/bot${token}/sendMessage`
      return { url, headers: JSON_BODY, body: JSON.stringify(body) }
    }
    case 'slack': {
      const body = { text: harmless(sentence), mrkdwn: false }
      return { url: target.url, headers: JSON_BODY, body: JSON.stringify(body) }
    }
  }
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Slack's own signs as it wants them; `@all` mentions nobody in the others. */
function harmless(text: string): string {
  const escaped = text.replace(/[&<>]/g, (sign) => ENTITIES[sign] ?? sign)
  return escaped.replace(/@(?=\w)/g, '@\u200B')
}

/** Headers are ASCII; ntfy decodes RFC 2047. */
function encodedHeader(text: string): string {
  if (/^[ -~]*$/.test(text)) return text
  return `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`
}
