import { deviceIdOf, sentenceWithTime, titleOf, type Item, type Told } from './item.ts'
import type { SubscriptionTarget } from './subscription.ts'

/** A request to a receiver. */
export type OutboundRequest = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

type TargetOf<Kind> = Extract<SubscriptionTarget, { kind: Kind }>
type Chat = TargetOf<'ntfy' | 'telegram' | 'slack'>

const JSON_BODY = { 'content-type': 'application/json' }
const TELEGRAM = 'https://api.telegram.org'
const SLACK = /(^|\.)slack(-gov)?\.com$/
const MOST_LINES = 50
const LONGEST_SUBJECT = 150

/** A sentence for a chat, without anything the chat would act on. */
export function chatRequest(target: Chat, told: Told, zone: string): OutboundRequest {
  const sentence = sentenceWithTime(told, zone)
  switch (target.kind) {
    case 'ntfy': {
      const { url, token } = target
      const headers = {
        'content-type': 'text/plain; charset=utf-8',
        title: encodeHeader(titleOf(told)),
        ...priorityOf(told.item),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      }
      return { url, headers, body: sentence }
    }
    case 'telegram': {
      const { token, chatId, threadId } = target
      const body = {
        chat_id: chatId,
        ...(threadId !== undefined && { message_thread_id: threadId }),
        text: sentence,
        link_preview_options: { is_disabled: true },
      }
      const url = `${TELEGRAM}/bot${token}/sendMessage`
      return { url, headers: JSON_BODY, body: JSON.stringify(body) }
    }
    case 'slack': {
      const isSlack = SLACK.test(new URL(target.url).hostname)
      const text = isSlack ? sentence : stripMarkdown(sentence)
      const body = { text: escapeForChats(text), mrkdwn: false }
      return { url: target.url, headers: JSON_BODY, body: JSON.stringify(body) }
    }
  }
}

/** ntfy's priorities: 5 also sounds on a silent phone, 3 is the default. */
function priorityOf({ kind, ...item }: Item): { readonly priority?: string } {
  const type = kind === 'fact' && 'fact' in item ? item.fact.type : undefined
  if (type === 'alarm.reported') return { priority: '5' }
  return type === 'rule.raised' ? { priority: '4' } : {}
}

/**
 * Escapes Slack's special characters; also prevents `@all` from mentioning everybody in other apps,
 * and `:car:` from becoming an emoji.
 */
function escapeForChats(text: string): string {
  return escapeSigns(text, /[&<>]/g)
    .replace(/@(?=\w)/g, '@\u200B')
    .replace(/:(?=[\w+-]+:)/g, ':\u200B')
}

/**
 * Mattermost, Rocket.Chat and Discord read Markdown even where Slack's format turns it off
 * (`mrkdwn`); Slack would show the backslashes.
 */
function stripMarkdown(text: string): string {
  return text.replace(/[\\`*_~|#[\]]|^[-+](?=\s)|(?<=^\d{1,9})[.)]/g, '\\$&')
}

/** Headers are ASCII; ntfy decodes RFC 2047. */
function encodeHeader(text: string): string {
  if (/^[ -~]*$/.test(text)) return text
  return `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`
}

export type Mail = {
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** Several items as one mail. `consoleUrl`: the console's URL, for links to devices. */
export function mailOf(
  all: readonly Told[],
  { zone, consoleUrl }: { zone: string; consoleUrl: string | undefined },
): Mail {
  const lines = all.slice(0, MOST_LINES).map((told) => {
    const deviceId = deviceIdOf(told.item)
    const link =
      consoleUrl === undefined || deviceId === undefined
        ? undefined
        : `${consoleUrl}/devices/${encodeURIComponent(deviceId)}`
    return { sentence: sentenceWithTime(told, zone), link }
  })
  const [first] = lines
  const others = all.length - 1
  const more = all.length - lines.length
  const end = more > 0 ? `and ${more} more` : undefined
  const subject = clip(first?.sentence ?? '') + (others > 0 ? ` and ${others} more` : '')
  const text = lines.map(({ sentence, link }) => (link ? `${sentence}\n${link}` : sentence))
  const html = lines.map(({ sentence, link }) => {
    const shown = escapeHtml(sentence)
    return `<li>${link ? `<a href="${escapeHtml(link)}">${shown}</a>` : shown}</li>`
  })
  return {
    subject,
    text: `${[...text, ...(end ? [end] : [])].join('\n\n')}\n`,
    html: `<!doctype html><meta charset="utf-8"><ul>${html.join('')}</ul>${end ? `<p>${end}</p>` : ''}`,
  }
}

function clip(text: string): string {
  const signs = [...text]
  return signs.length <= LONGEST_SUBJECT ? text : `${signs.slice(0, LONGEST_SUBJECT).join('')}…`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export function escapeHtml(text: string): string {
  return escapeSigns(text, /[&<>"']/g)
}

/** Escapes only these characters, as HTML entities. */
export function escapeSigns(text: string, signs: RegExp): string {
  return text.replace(signs, (sign) => ENTITIES[sign] ?? sign)
}
