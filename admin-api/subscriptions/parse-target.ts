import type { Fault } from '../../runtime/errors.ts'
import { objectOf, type JsonSchema } from '../../runtime/openapi/json-schema.ts'
import { outboundUrlFault, type OutboundNetworks } from '../../runtime/outbound/outbound-url.ts'
import {
  TARGET_KINDS,
  type SubscriptionTarget,
  type ShownTarget,
} from '../../schemas/subscriptions/subscription.ts'
import { isJsonObject } from '../../schemas/text/json-object.ts'
import type { Caller } from '../http/caller.ts'

const LONGEST_URL = 2_048
const LONGEST_HEADER = 1_024
const MOST_HEADERS = 20
const MOST_ADDRESSES = 20
const MOST_IN_BATCH = 500

const URL_SCHEMA = { type: 'string', format: 'uri', maxLength: LONGEST_URL }

export const TARGET: JsonSchema = {
  title: 'Target',
  description: 'The receiver, with its secrets. A change replaces all of it',
  oneOf: [
    objectOf(
      {
        kind: { const: 'webhook' },
        url: URL_SCHEMA,
        headers: {
          title: 'TargetHeaders',
          type: 'object',
          maxProperties: MOST_HEADERS,
          additionalProperties: { type: 'string', maxLength: LONGEST_HEADER },
        },
        batch: { type: 'integer', minimum: 2, maximum: MOST_IN_BATCH },
      },
      { title: 'WebhookTarget', optional: ['headers', 'batch'] },
    ),
    objectOf(
      { kind: { const: 'ntfy' }, url: URL_SCHEMA, token: { type: 'string' } },
      { title: 'NtfyTarget', optional: ['token'] },
    ),
    objectOf(
      {
        kind: { const: 'telegram' },
        token: { type: 'string', description: 'Of the bot' },
        chatId: { type: 'string' },
        threadId: {
          type: ['integer', 'string'],
          description: 'The number of a topic of the group',
        },
      },
      { title: 'TelegramTarget', optional: ['threadId'] },
    ),
    objectOf({ kind: { const: 'slack' }, url: URL_SCHEMA }, { title: 'SlackTarget' }),
    objectOf(
      {
        kind: { const: 'email' },
        to: {
          type: 'array',
          items: { type: 'string', format: 'email' },
          minItems: 1,
          maxItems: MOST_ADDRESSES,
          description: 'Addresses of operators of the account',
        },
      },
      { title: 'EmailTarget' },
    ),
  ],
}

type Members = Readonly<Record<string, unknown>>
type Kind = SubscriptionTarget['kind']

const MEMBERS: Readonly<Record<Kind, readonly string[]>> = {
  webhook: ['kind', 'url', 'headers', 'batch'],
  ntfy: ['kind', 'url', 'token'],
  telegram: ['kind', 'token', 'chatId', 'threadId'],
  slack: ['kind', 'url'],
  email: ['kind', 'to'],
}

/** Headers that control how the request itself is sent, or prove its origin. */
const OWN_HEADERS =
  /^(host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|content-.*|webhook-.*)$/i

/**
 * Parses a target. `networks`: the networks that URLs may reach in addition to the public Internet.
 */
export function targetParser(networks: OutboundNetworks) {
  return function parseTarget(
    value: unknown,
    field: string,
  ): { readonly made: SubscriptionTarget } | { readonly faults: readonly Fault[] } {
    if (!isJsonObject(value)) {
      return { faults: [{ field, message: `${field} must be an object with a kind` }] }
    }
    const members: Members = value
    const kind = TARGET_KINDS.find((one) => one === members['kind'])
    if (kind === undefined) {
      const message = `${field}.kind must be one of ${TARGET_KINDS.join(', ')}`
      return { faults: [{ field: `${field}.kind`, message }] }
    }
    const unknown = Object.keys(members).filter((name) => !MEMBERS[kind].includes(name))
    const faults = [
      ...(unknown.length > 0 ? [`takes ${MEMBERS[kind].join(', ')} and nothing else`] : []),
      ...faultsOf(kind, members, networks),
    ].map((message) => {
      const [, member] = /^\.(\w+)/.exec(message) ?? []
      const at = member === undefined ? field : `${field}.${member}`
      return { field: at, message: member === undefined ? `${field} ${message}` : field + message }
    })
    if (faults.length > 0) return { faults }
    const { threadId, ...made } = dropNulls(members)
    const thread = threadId === undefined ? {} : { threadId: Number(threadId) }
    return { made: { ...made, ...thread } as SubscriptionTarget }
  }
}

function faultsOf(kind: Kind, members: Members, networks: OutboundNetworks): string[] {
  switch (kind) {
    case 'webhook':
      return [
        ...urlFaults(members, networks),
        ...headersFaults(members['headers'] ?? {}),
        ...(isBatch(members['batch'] ?? 2)
          ? []
          : [`.batch must be a whole number from 2 to ${MOST_IN_BATCH}`]),
      ]
    case 'ntfy':
      return [
        ...urlFaults(members, networks),
        ...(isToken(members['token'] ?? 'x') ? [] : ['.token must be a token without blanks']),
      ]
    case 'telegram':
      return [
        ...(matches(members['token'], /^\d{1,20}:[\w-]{20,100}$/)
          ? []
          : ['.token must be the token of a bot, from BotFather']),
        ...(matches(members['chatId'], /^(-?\d{1,20}|@\w{1,64})$/)
          ? []
          : ['.chatId must be a text: the number of a chat, or @ and the name of a channel']),
        ...(isThread(members['threadId'] ?? 1)
          ? []
          : ['.threadId must be the number of a topic, a whole number from 1']),
      ]
    case 'slack':
      return urlFaults(members, networks)
    case 'email':
      return areAddresses(members['to'])
        ? []
        : [`.to must be a list of 1 to ${MOST_ADDRESSES} different e-mail addresses`]
  }
}

function urlFaults({ url }: Members, networks: OutboundNetworks): string[] {
  if (typeof url !== 'string' || url.length > LONGEST_URL) {
    return [`.url must be a URL of at most ${LONGEST_URL} characters`]
  }
  const fault = outboundUrlFault(url, networks)
  return fault === undefined ? [] : [`.url ${fault}`]
}

function headersFaults(headers: unknown): string[] {
  const entries = Object.entries(headers as object)
  const areGood =
    typeof headers === 'object' &&
    !Array.isArray(headers) &&
    entries.length <= MOST_HEADERS &&
    entries.every(
      ([name, value]) =>
        /^[A-Za-z0-9-]{1,64}$/.test(name) &&
        typeof value === 'string' &&
        value.length <= LONGEST_HEADER &&
        /^[!-~]([ -~]*[!-~])?$/.test(value),
    )
  if (!areGood) return [`.headers must have at most ${MOST_HEADERS} names with ASCII texts`]
  const own = entries.find(([name]) => OWN_HEADERS.test(name))
  return own === undefined ? [] : [`.headers must not have ${own[0]}: this service sets it`]
}

function isBatch(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 2 && (value as number) <= MOST_IN_BATCH
}

function isThread(value: unknown): boolean {
  const isNumber = typeof value === 'number' || matches(value, /^\d+$/)
  return isNumber && Number.isSafeInteger(Number(value)) && Number(value) > 0
}

function isToken(value: unknown): boolean {
  return matches(value, /^[!-~]{1,512}$/)
}

function matches(value: unknown, pattern: RegExp): boolean {
  return typeof value === 'string' && pattern.test(value)
}

function areAddresses(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= MOST_ADDRESSES &&
    new Set(value).size === value.length &&
    value.every((one) => matches(one, /^[^\s@,;<>"]{1,64}@[^\s@,;<>"]{1,255}$/))
  )
}

function dropNulls(members: Members): Members {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== null && value !== undefined),
  )
}

export const SHOWN_TARGET = objectOf(
  {
    kind: { type: 'string' },
    url: { type: 'string', description: 'Only scheme and host' },
    batch: { type: 'integer' },
    chatId: { type: 'string' },
    threadId: { type: 'integer' },
    to: {
      type: 'array',
      items: { type: 'string' },
      description: 'In full for dispatchers and admins; others see `o…@example.org`',
    },
  },
  {
    title: 'ShownTarget',
    optional: ['url', 'batch', 'chatId', 'threadId', 'to'],
    description: 'Without its secrets',
  },
)

export function targetView({ target }: { readonly target: ShownTarget }, caller: Caller) {
  if (target.kind !== 'email') return target
  return { ...target, to: target.to.map((address) => shortenAddresses(address, caller)) }
}

/** A text containing the addresses, shortened for callers who may not see them. */
export function shortenAddresses(text: string, caller: Caller): string {
  return seesAddresses(caller) ? text : text.replace(/([^\s@<>])[^\s@<>]*(?=@)/gu, '$1…')
}

/**
 * Whether the caller could have entered the addresses; other readers of subscriptions cannot list
 * operators.
 */
function seesAddresses(caller: Caller): boolean {
  if (caller.kind === 'operator') return caller.operator.role !== 'viewer'
  return caller.key.scopes.includes('admin') && caller.key.deviceIds === undefined
}
