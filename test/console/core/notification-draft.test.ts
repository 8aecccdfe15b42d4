import { expect, test } from '@jest/globals'
import { ApiFailure } from '../../../console/core/failure.ts'
import {
  splitAge,
  everySecondsOf,
  eventFields,
  hoursOf,
  maxAgeSecondsOf,
  subjectOf,
  parseTargetDraft,
} from '../../../console/core/notification-draft.ts'

const NONE = { types: null, ruleIds: null, geofenceIds: null }

/** The field that a failure names. */
function faultyField(work: () => unknown): string | undefined {
  try {
    work()
  } catch (failure) {
    if (failure instanceof ApiFailure) return failure.details[0]?.field
    throw failure
  }
  return undefined
}

test.each([
  ['any', {}],
  ['any', { geofenceIds: ['yard'] }],
  ['events', { types: ['alarm.reported'] }],
  ['events', { types: ['geofence.left'], geofenceIds: ['yard'] }],
  ['rules', { types: ['rule.raised'], ruleIds: ['fast'] }],
  ['rules', { types: ['rule.raised', 'rule.cleared'], ruleIds: ['fast'] }],
  // Only the API creates these.
  ['events', { types: ['rule.cleared'], ruleIds: ['fast'] }],
  ['events', { types: ['geofence.left'], ruleIds: ['fast'], geofenceIds: ['yard'] }],
  ['events', { ruleIds: ['fast'], geofenceIds: ['yard'] }],
] as const)('a notification about %s is unchanged by a form: %j', (about, fields) => {
  const copy = structuredClone(fields) as { types?: string[] }
  const subject = subjectOf({ source: 'facts', ...copy })
  expect(subject.about).toBe(about)
  expect(eventFields(subject)).toEqual({ ...NONE, ...fields })
})

test('a notification about positions has no events, rules or geofences', () => {
  const subject = subjectOf({ source: 'positions' })
  expect(subject.about).toBe('positions')
  expect(eventFields({ ...subject, types: ['alarm.reported'], ruleIds: ['fast'] })).toEqual(NONE)
})

test('events and rules must be chosen', () => {
  const subject = subjectOf({ source: 'facts' })
  expect(faultyField(() => eventFields({ ...subject, about: 'events' }))).toBe('types')
  expect(faultyField(() => eventFields({ ...subject, about: 'rules' }))).toBe('ruleIds')
})

test('hours without a day apply to every day, days without times are whole days, and an empty form means any time', () => {
  const everyDay = [1, 2, 3, 4, 5, 6, 7]
  const night = { 'hours.from': '20:00', 'hours.to': '6:00 am', zone: ' UTC ' }
  expect(hoursOf([], night)).toEqual({ days: everyDay, from: '20:00', to: '06:00', zone: 'UTC' })
  expect(hoursOf(['7', '1'], { 'hours.from': '', 'hours.to': '00:00', zone: 'UTC' })).toEqual({
    days: [1, 7],
    from: '00:00',
    to: '24:00',
    zone: 'UTC',
  })
  expect(hoursOf([], { 'hours.from': '20:00', zone: 'UTC' })).toMatchObject({ to: '24:00' })
  expect(hoursOf([], { 'hours.from': '', 'hours.to': ' ', zone: 'UTC' })).toBeNull()
  expect(faultyField(() => hoursOf([], { 'hours.to': 'noon' }))).toBe('hours.to')
})

test('a target is read from the fields of its kind', () => {
  const values = {
    'target.url': ' https://example.org/hook ',
    'target.token': '',
    'target.chatId': '-42',
    'target.to': 'a@x.org\n\n b@x.org ',
    'target.batch': '100',
    'target.headers': 'Authorization: Bearer a:b\nX-Tenant:7',
  }
  const url = 'https://example.org/hook'
  expect(parseTargetDraft('webhook', values)).toEqual({
    kind: 'webhook',
    url,
    batch: 100,
    headers: { Authorization: 'Bearer a:b', 'X-Tenant': '7' },
  })
  expect(parseTargetDraft('webhook', { 'target.url': url })).toEqual({ kind: 'webhook', url })
  expect(parseTargetDraft('ntfy', values)).toEqual({ kind: 'ntfy', url })
  expect(parseTargetDraft('ntfy', { ...values, 'target.token': 't' })).toEqual({
    kind: 'ntfy',
    url,
    token: 't',
  })
  expect(parseTargetDraft('slack', values)).toEqual({ kind: 'slack', url })
  expect(parseTargetDraft('telegram', values)).toEqual({
    kind: 'telegram',
    token: '',
    chatId: '-42',
  })
  const topic = parseTargetDraft('telegram', { ...values, 'target.threadId': ' 7 ' })
  expect(topic).toEqual({ kind: 'telegram', token: '', chatId: '-42', threadId: '7' })
  expect(parseTargetDraft('email', values)).toEqual({ kind: 'email', to: ['a@x.org', 'b@x.org'] })
})

test.each([
  ['target.headers', () => parseTargetDraft('webhook', { 'target.headers': 'no colon' })],
  ['target.batch', () => parseTargetDraft('webhook', { 'target.batch': '1' })],
  ['target.batch', () => parseTargetDraft('webhook', { 'target.batch': 'many' })],
  ['everySeconds', () => everySecondsOf({ everySeconds: '1.5' })],
  ['everySeconds', () => everySecondsOf({ everySeconds: '3601' })],
  ['maxAgeSeconds', () => maxAgeSecondsOf({ maxAgeSeconds: 'old', maxAgeUnit: 'hours' })],
  ['maxAgeSeconds', () => maxAgeSecondsOf({ maxAgeSeconds: '0', maxAgeUnit: 'minutes' })],
  ['maxAgeSeconds', () => maxAgeSecondsOf({ maxAgeSeconds: '31', maxAgeUnit: 'days' })],
])('a fault names its field: %s', (field, work) => {
  expect(faultyField(work)).toBe(field)
})

test('an empty field for the pause means no pause', () => {
  expect(everySecondsOf({ everySeconds: ' ' })).toBe(0)
  expect(everySecondsOf({ everySeconds: '60' })).toBe(60)
})

test.each([
  [1, '1', 'seconds'],
  [90, '90', 'seconds'],
  [5_400, '90', 'minutes'],
  [86_400, '1', 'days'],
  [90_000, '25', 'hours'],
  [2_592_000, '30', 'days'],
])('an age of %i s is entered as %s %s, and unchanged by a form', (seconds, text, unit) => {
  expect(splitAge(seconds)).toEqual({ text, unit })
  expect(maxAgeSecondsOf({ maxAgeSeconds: text, maxAgeUnit: unit })).toBe(seconds)
})

test('an empty age means the default', () => {
  expect(splitAge(undefined).text).toBe('')
  expect(maxAgeSecondsOf({ maxAgeSeconds: ' ', maxAgeUnit: 'hours' })).toBeNull()
})
