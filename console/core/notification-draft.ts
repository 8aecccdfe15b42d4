import { clockTime24 } from './date-words.ts'
import { fieldFailure } from './failure.ts'
import type { ApiSubscription, ReceiverKind } from './notification-words.ts'

/** The subjects that a form offers. */
export const ABOUT = {
  events: 'One of these events happens …',
  rules: 'One of these rules is raised …',
  any: 'Anything happens',
  positions: 'A position arrives',
} as const
export type About = keyof typeof ABOUT

export type Subject = {
  readonly about: About
  readonly types: readonly string[]
  readonly ruleIds: readonly string[]
  readonly geofenceIds: readonly string[]
  /** Whether the end of a rule is also included. */
  readonly ends: boolean
}

export function subjectOf({
  source,
  types,
  ruleIds = [],
  geofenceIds = [],
}: Partial<ApiSubscription>): Subject {
  const isOfRules =
    ruleIds.length > 0 &&
    geofenceIds.length === 0 &&
    (types === undefined ||
      (types.includes('rule.raised') && types.every((one) => one.startsWith('rule.'))))
  const about =
    source === 'positions'
      ? 'positions'
      : isOfRules
        ? 'rules'
        : types === undefined && ruleIds.length === 0
          ? 'any'
          : 'events'
  const ends = types === undefined || types.includes('rule.cleared')
  return { about, types: types ?? [], ruleIds, geofenceIds, ends }
}

/** @throws {ApiFailure} if nothing is selected. */
export function eventFields({ about, types, ruleIds, geofenceIds, ends }: Subject) {
  const some = <T>(all: readonly T[]) => (all.length > 0 ? [...all] : null)
  const none = { types: null, ruleIds: null, geofenceIds: null }
  if (about === 'positions') return none
  if (about === 'any') return { ...none, geofenceIds: some(geofenceIds) }
  if (about === 'rules') {
    if (ruleIds.length === 0) throw fieldFailure('ruleIds', 'Choose a rule.')
    return {
      ...none,
      ruleIds: [...ruleIds],
      types: ['rule.raised', ...(ends ? ['rule.cleared'] : [])],
    }
  }
  // Only the API creates subscriptions that have rules without types.
  if (types.length === 0 && ruleIds.length === 0) throw fieldFailure('types', 'Choose an event.')
  return { types: some(types), ruleIds: some(ruleIds), geofenceIds: some(geofenceIds) }
}

type Values = Readonly<Record<string, string>>

const EVERY_DAY = [1, 2, 3, 4, 5, 6, 7]

/**
 * Nothing selected: at any time. Times without a day apply to every day, a day without times is a
 * whole day.
 * @throws {ApiFailure} for anything but a time of day.
 */
export function hoursOf(days: readonly string[], values: Values) {
  const [from, to] = [clockOfField('hours.from', values), clockOfField('hours.to', values)]
  if (days.length === 0 && from === '' && to === '') return null
  return {
    days: days.length === 0 ? EVERY_DAY : days.map(Number).sort(),
    from: from || '00:00',
    to: to === '' || to === '00:00' ? '24:00' : to,
    zone: values['zone']?.trim() ?? '',
  }
}

/** `20:00`, or nothing. */
function clockOfField(field: string, { [field]: typed = '' }: Values): string {
  const clock = typed.trim() === '' ? '' : clockTime24(typed).slice(0, 5)
  if (clock === '' || clock === '24:00' || /^([01]\d|2[0-3]):[0-5]\d$/.test(clock)) return clock
  throw fieldFailure(field, 'Enter a time of day, such as 14:05.')
}

/** @throws {ApiFailure} for a header without a colon. */
export function parseTargetDraft(kind: ReceiverKind, values: Values): Record<string, unknown> {
  const text = (name: string) => values[`target.${name}`]?.trim() ?? ''
  const optional = (name: string) => (text(name) === '' ? {} : { [name]: text(name) })
  const lines = (name: string) =>
    text(name)
      .split(/\s*\n\s*/)
      .filter(Boolean)
  switch (kind) {
    case 'webhook': {
      const headers = lines('headers').map((line) => {
        const [, header, value] = /^([^:]+?)\s*:\s*(.+)$/.exec(line) ?? []
        if (header === undefined) {
          throw fieldFailure(
            'target.headers',
            'Enter each header as a name, a colon and its value.',
          )
        }
        return [header, value] as const
      })
      return {
        kind,
        url: text('url'),
        ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
        ...(text('batch') !== '' && { batch: numberOf('target.batch', text('batch'), 2, 500) }),
      }
    }
    case 'ntfy':
      return { kind, url: text('url'), ...optional('token') }
    case 'telegram':
      return { kind, token: text('token'), chatId: text('chatId'), ...optional('threadId') }
    case 'slack':
      return { kind, url: text('url') }
    case 'email':
      return { kind, to: lines('to') }
  }
}

/** @throws {ApiFailure} for anything but a pause in seconds. */
export function everySecondsOf({ everySeconds = '' }: Values): number {
  return everySeconds.trim() === '' ? 0 : numberOf('everySeconds', everySeconds, 0, 3_600)
}

/** The units in which a form accepts an age, in seconds. */
export const AGE_UNITS = { minutes: 60, hours: 3_600, days: 86_400, seconds: 1 } as const
export type AgeUnit = keyof typeof AGE_UNITS

const LONGEST_AGE_SECONDS = 30 * AGE_UNITS.days

/** The age in the largest unit that gives a whole number. */
export function splitAge(seconds: number | undefined): { text: string; unit: AgeUnit } {
  if (seconds === undefined) return { text: '', unit: 'hours' }
  const units = ['days', 'hours', 'minutes', 'seconds'] as const
  const unit = units.find((one) => seconds % AGE_UNITS[one] === 0) ?? 'seconds'
  return { text: String(seconds / AGE_UNITS[unit]), unit }
}

/**
 * Null means the default age.
 * @throws {ApiFailure} for anything but a whole number up to 30 days.
 */
export function maxAgeSecondsOf({ maxAgeSeconds = '', maxAgeUnit }: Values): number | null {
  if (maxAgeSeconds.trim() === '') return null
  const seconds = AGE_UNITS[maxAgeUnit as AgeUnit]
  const most = LONGEST_AGE_SECONDS / seconds
  return seconds * numberOf('maxAgeSeconds', maxAgeSeconds, 1, most)
}

function numberOf(field: string, text: string, least: number, most: number): number {
  const number = Number(text)
  if (Number.isInteger(number) && number >= least && number <= most) return number
  throw fieldFailure(field, `Enter a whole number from ${least} to ${most}.`)
}
