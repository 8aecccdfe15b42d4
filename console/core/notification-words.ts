import type { components } from '../api/schema.ts'
import { FACT_WORDS } from './device-facts.ts'
import { countText, METRIC, numberText } from './measures.ts'
import { secondsText } from './times.ts'

/** The API calls it a subscription, the console a notification. */
export type ApiSubscription = components['schemas']['Subscription']
export type TestOutcome = components['schemas']['TestOutcome']
type Target = ApiSubscription['target']

/** The names of rules and geofences, by id. */
export type DefinitionNames = ReadonlyMap<string, string>

/** Kinds of receivers, as a form offers them. */
export const KINDS = {
  webhook: 'A program, by webhook',
  ntfy: 'A phone, by ntfy',
  telegram: 'Telegram',
  slack: 'Slack, Mattermost, Discord …',
  email: 'E-mail',
} as const
export type ReceiverKind = keyof typeof KINDS

/** The subject: `Geofence entered or geofence left, Yard`, `Rule Too fast raised`. */
export function describeSubject(
  {
    source,
    types,
    ruleIds,
    geofenceIds,
  }: Pick<ApiSubscription, 'source'> & Partial<ApiSubscription>,
  names: DefinitionNames,
): string {
  if (source === 'positions') return 'Every position'
  const named = (ids: readonly string[]) =>
    ids.map((id) => names.get(id) ?? '(deleted)').join(' or ')
  if (ruleIds !== undefined && geofenceIds === undefined && types?.includes('rule.raised')) {
    // Facts of other types are not about a rule.
    const ends = types.includes('rule.cleared') ? ' or ended' : ''
    return `Rule ${named(ruleIds)} raised${ends}`
  }
  const events = types?.map((type, index) => {
    const words = FACT_WORDS[type as keyof typeof FACT_WORDS]
    return index === 0 ? words : words.toLowerCase()
  })
  const about = [ruleIds, geofenceIds].filter((ids) => ids !== undefined).map(named)
  return [events?.join(' or ') ?? 'Any event', ...about].join(', ')
}

export const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const

/** `Mon to Fri 18:00–07:00, Europe/Berlin`. */
export function hoursText({ days, from, to, zone }: NonNullable<ApiSubscription['hours']>): string {
  const sorted = [...days].sort()
  const [first = 1, last = 1] = [sorted[0], sorted.at(-1)]
  const word = (day: number) => DAYS[day - 1] ?? ''
  const isRun = days.length > 2 && last - first === days.length - 1
  const words = isRun ? `${word(first)} to ${word(last)}` : sorted.map(word).join(', ')
  return `${words} ${from}–${to}, ${zone}`
}

/** The limits on what it sends: `at least 1 minute apart · nothing older than 2 hours`. */
export function limitTexts({
  everySeconds,
  maxAgeSeconds,
}: Pick<ApiSubscription, 'everySeconds' | 'maxAgeSeconds'>): readonly string[] {
  return [
    ...(everySeconds > 0 ? [`at least ${secondsText(everySeconds)} apart`] : []),
    ...(maxAgeSeconds === undefined ? [] : [`nothing older than ${secondsText(maxAgeSeconds)}`]),
  ]
}

const RECEIVERS: Readonly<Record<string, string>> = {
  webhook: 'Webhook at',
  ntfy: 'Phone by',
  slack: 'Chat at',
}

/** `Webhook at example.org`, `Telegram chat -42`. */
export function receiverText(target: Target): string {
  if (target.kind === 'email') return target.to?.join(', ') ?? ''
  if (target.kind === 'telegram') {
    const { chatId = '', threadId } = target
    return `Telegram chat ${chatId}${threadId === undefined ? '' : `, topic ${threadId}`}`
  }
  const words = RECEIVERS[target.kind]
  return `${words ?? target.kind} ${hostOf(target)}`
}

function hostOf({ kind, url }: Target): string {
  if (url !== undefined) return new URL(url).host
  return kind === 'email' ? 'the mail server' : 'Telegram'
}

/**
 * Describes the notification's state: `Failing since 14:05: 500 from example.org; 312 wait`.
 * @param when formats an ISO 8601 time for display.
 */
export function stateText(
  {
    state,
    failingSince = '',
    lastError,
    notice,
    lastDeliveredAt,
    waiting,
    setAside,
    target,
  }: ApiSubscription,
  when: (iso: string) => string,
): string {
  const aside = setAside.length === 0 ? '' : `; ${countText(setAside.length, 'item')} refused`
  if (state === 'paused') return 'Paused: the account is suspended'
  if (state === 'active') {
    const sent =
      lastDeliveredAt === undefined ? 'Nothing sent yet' : `Last sent ${when(lastDeliveredAt)}`
    const words = [lastError, notice].flatMap((one) => (one === undefined ? [] : [`; ${one}`]))
    return sent + words.join('') + waitText(waiting) + aside
  }
  const begun = state === 'disabled' ? 'Disabled, failing since' : 'Failing since'
  const status = /^status (\d+)$/.exec(lastError ?? '')?.[1]
  const host = hostOf(target)
  const why = status === undefined ? `${lastError} (${host})` : `${status} from ${host}`
  return `${begun} ${when(failingSince)}: ${why}${waitText(waiting)}${aside}`
}

function waitText(waiting: ApiSubscription['waiting']): string {
  if (waiting === undefined || waiting.count === 0) return ''
  const { count, more } = waiting
  const number = numberText(count, METRIC)
  if (more) return `; more than ${number} wait`
  return count === 1 ? '; 1 waits' : `; ${number} wait`
}

/** The result of a request: `Answered 200 in 12 ms`, `No answer: no such host`. */
export function outcomeText({ status, error, milliseconds }: TestOutcome): string {
  if (status === undefined) return `No response: ${error}`
  const why = error === undefined ? '' : `: ${error}`
  return `Response ${status} in ${numberText(milliseconds, METRIC)} ms${why}`
}
