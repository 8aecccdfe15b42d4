import type { SubscriptionTarget } from '../../schemas/subscriptions/subscription.ts'

/** Shorter ones are words that occur in any text. */
const SHORTEST = 4
const SHORTEST_SEGMENT = 8
const HTML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/**
 * The beginning of a receiver's answer without the secrets of its target: many receivers repeat the path or the
 * headers of a request that they refuse.
 */
export function withoutSecrets(text: string, target: SubscriptionTarget): string {
  const secrets = [...new Set(secretsOf(target).flatMap(spellings))]
    .filter(({ length }) => length >= SHORTEST)
    .sort((one, other) => other.length - one.length)
  const without = secrets.reduce((left, secret) => left.replaceAll(secret, '…'), text)
  // Where the text was cut off, a secret may have begun.
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

function spellings(secret: string): string[] {
  return [secret, decoded(secret), secret.replace(/[&<>]/g, (sign) => HTML[sign] ?? sign)]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** How much of a secret's beginning the text ends with, if it is more than a word. */
function beginningAtEnd(text: string, secret: string): number[] {
  for (let length = Math.min(secret.length, text.length); length >= SHORTEST; length -= 1) {
    if (text.endsWith(secret.slice(0, length))) return [length]
  }
  return []
}
