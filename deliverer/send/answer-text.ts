import type { SubscriptionTarget } from '../../schemas/subscriptions/subscription.ts'
import { isSuccess } from '../after-attempt.ts'
import { parseRetryAfter, type Answer } from './http-client.ts'
import { escapeSigns } from '../../schemas/subscriptions/messages.ts'

/** Shorter texts are words that occur anywhere. */
const SHORTEST_SECRET = 4
const SHORTEST_SEGMENT = 8
const LONGEST_WORDS = 200

/** The response of a chat with details from its body: the reason, and when to retry. */
export function explainAnswer(answer: Answer): Answer {
  const { status, failure, text, retryAfterMs } = answer
  if (status === undefined || isSuccess(status) || failure !== undefined) return answer
  const [, seconds] = /"retry_after":\s*(\d{1,6}(\.\d{1,9})?)/.exec(text) ?? []
  const [, chatId] = /"migrate_to_chat_id":\s*(-?\d{1,20})/.exec(text) ?? []
  const words = [
    wordsOf(text),
    ...(chatId === undefined ? [] : [`migrate_to_chat_id is ${chatId}: enter it as chatId`]),
  ].filter((one) => one !== '')
  return {
    ...answer,
    ...(words.length > 0 && { failure: `status ${status}: ${words.join('; ')}` }),
    retryAfterMs: parseRetryAfter(seconds, 0) ?? retryAfterMs,
  }
}

/** The reason in a possibly truncated body: from an object, or a text that is not an HTML page. */
function wordsOf(body: string): string {
  const [, json] = /"(?:description|message|error)":\s*("(?:[^"\\]|\\.)*")/.exec(body) ?? []
  const words = json === undefined ? (/^\s*[<{[]/.test(body) ? '' : body) : parseText(json)
  return words
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, LONGEST_WORDS)
}

function parseText(json: string): string {
  try {
    return String(JSON.parse(json))
  } catch {
    return json
  }
}

/**
 * The start of a receiver's response without the secrets of its target: many receivers repeat
 * the path or the headers of a request they refuse.
 */
export function maskSecrets(text: string, target: SubscriptionTarget): string {
  const secrets = [...new Set(secretsOf(target).flatMap(listSpellings))]
    .filter(({ length }) => length >= SHORTEST_SECRET)
    .sort((one, other) => other.length - one.length)
  const without = secrets.reduce((left, secret) => left.replaceAll(secret, '…'), text)
  // A secret may have started where the text was truncated.
  const begun = secrets.flatMap((secret) => beginningAtEnd(without, secret))
  const longest = Math.max(0, ...begun)
  return longest === 0 ? without : `${without.slice(0, -longest)}…`
}

function secretsOf(target: SubscriptionTarget): string[] {
  switch (target.kind) {
    case 'webhook': {
      const values = Object.values(target.headers ?? {})
      return [...partsOfUrl(target.url), ...values, ...values.flatMap((one) => one.split(' '))]
    }
    case 'ntfy':
      return [...partsOfUrl(target.url), ...(target.token === undefined ? [] : [target.token])]
    case 'telegram':
      return [target.token]
    case 'slack':
      return partsOfUrl(target.url)
    case 'email':
      return []
  }
}

function partsOfUrl(text: string): string[] {
  const { pathname, search, searchParams } = new URL(text)
  const segments = pathname.split('/').filter(({ length }) => length >= SHORTEST_SEGMENT)
  return [pathname + search, pathname, search, ...segments, ...searchParams.values()]
}

function listSpellings(secret: string): string[] {
  return [secret, decodeText(secret), escapeSigns(secret, /[&<>]/g)]
}

function decodeText(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** How much of the start of a secret the text ends with, if more than a word. */
function beginningAtEnd(text: string, secret: string): number[] {
  for (let length = Math.min(secret.length, text.length); length >= SHORTEST_SECRET; length -= 1) {
    if (text.endsWith(secret.slice(0, length))) return [length]
  }
  return []
}
