import { expect, test } from '@jest/globals'
import {
  hoursText,
  limitTexts,
  outcomeText,
  receiverText,
  stateText,
  describeSubject,
  type ApiSubscription,
} from '../../../console/core/notification-words.ts'

const TARGET = { kind: 'webhook', url: 'https://example.org' }
const names = new Map([
  ['yard', 'Yard'],
  ['fast', 'Too fast'],
])
const when = (iso: string) => iso.slice(11, 16)

function subscription(changes: Partial<ApiSubscription>): ApiSubscription {
  return {
    id: 'x',
    name: 'Office',
    source: 'facts',
    everySeconds: 0,
    target: TARGET,
    state: 'active',
    mark: 'm',
    setAside: [],
    revision: 1,
    createdAt: '',
    changedAt: '',
    ...changes,
  }
}

test.each<[Partial<ApiSubscription>, string]>([
  [{}, 'Any event'],
  [{ source: 'positions' }, 'Every position'],
  [{ types: ['alarm.reported'] }, 'Alarm reported'],
  [
    { types: ['geofence.entered', 'geofence.left'], geofenceIds: ['yard'] },
    'Geofence entered or geofence left, Yard',
  ],
  [{ types: ['rule.raised'], ruleIds: ['fast', 'gone'] }, 'Rule Too fast or (deleted) raised'],
  [{ types: ['rule.raised', 'rule.cleared'], ruleIds: ['fast'] }, 'Rule Too fast raised or ended'],
  [{ types: ['rule.cleared'], ruleIds: ['fast'] }, 'Rule ended, Too fast'],
  [{ ruleIds: ['fast'], geofenceIds: ['yard'] }, 'Any event, Too fast, Yard'],
])('%j sends: %s', (changes, text) => {
  expect(describeSubject(subscription(changes), names)).toBe(text)
})

test.each([
  [[1, 2, 3, 4, 5], 'Mon to Fri 18:00–07:00, Europe/Berlin'],
  [[7, 6], 'Sat, Sun 18:00–07:00, Europe/Berlin'],
  [[1, 3, 5], 'Mon, Wed, Fri 18:00–07:00, Europe/Berlin'],
  [[4], 'Thu 18:00–07:00, Europe/Berlin'],
])('the hours of the days %j read %s', (days, text) => {
  expect(hoursText({ days, from: '18:00', to: '07:00', zone: 'Europe/Berlin' })).toBe(text)
})

test.each<[Partial<ApiSubscription>, readonly string[]]>([
  [{}, []],
  [{ everySeconds: 60 }, ['at least 1 minute apart']],
  [{ maxAgeSeconds: 7_200 }, ['nothing older than 2 hours']],
  [
    { everySeconds: 5, maxAgeSeconds: 172_800 },
    ['at least 5 s apart', 'nothing older than 2 days'],
  ],
])('the limits of %j read %j', (changes, texts) => {
  expect(limitTexts(subscription(changes))).toEqual(texts)
})

test.each<[ApiSubscription['target'], string]>([
  [TARGET, 'Webhook at example.org'],
  [{ kind: 'ntfy', url: 'https://ntfy.sh' }, 'Phone by ntfy.sh'],
  [{ kind: 'slack', url: 'https://hooks.slack.com' }, 'Chat at hooks.slack.com'],
  [{ kind: 'telegram', chatId: '-42' }, 'Telegram chat -42'],
  [{ kind: 'telegram', chatId: '-42', threadId: 7 }, 'Telegram chat -42, topic 7'],
  [{ kind: 'email', to: ['a@x.org', 'b@x.org'] }, 'a@x.org, b@x.org'],
])('the receiver %j reads %s', (target, text) => {
  expect(receiverText(target)).toBe(text)
})

const FAILING = {
  state: 'failing',
  failingSince: '2026-01-31T14:05:00.000Z',
  lastError: 'status 500',
} as const

test.each<[Partial<ApiSubscription>, string]>([
  [{}, 'Nothing sent yet'],
  [{ lastDeliveredAt: '2026-01-31T09:30:00.000Z' }, 'Last sent 09:30'],
  [
    { lastDeliveredAt: '2026-01-31T09:30:00.000Z', lastError: 'bo@x.org was refused: 550 gone' },
    'Last sent 09:30; bo@x.org was refused: 550 gone',
  ],
  [{ setAside: [{ id: 'a', at: '', status: 422 }] }, 'Nothing sent yet; 1 item refused'],
  [{ waiting: { count: 11, more: false } }, 'Nothing sent yet; 11 wait'],
  [{ state: 'paused' }, 'Paused: the account is suspended'],
  [
    { ...FAILING, waiting: { count: 312, more: false } },
    'Failing since 14:05: 500 from example.org; 312 wait',
  ],
  [
    { ...FAILING, waiting: { count: 1, more: false } },
    'Failing since 14:05: 500 from example.org; 1 waits',
  ],
  [
    { ...FAILING, waiting: { count: 5, more: true } },
    'Failing since 14:05: 500 from example.org; more than 5 wait',
  ],
  [{ ...FAILING, lastError: 'no such host' }, 'Failing since 14:05: no such host (example.org)'],
  [
    { ...FAILING, target: { kind: 'telegram', chatId: '1' }, lastError: 'status 401' },
    'Failing since 14:05: 401 from Telegram',
  ],
  [
    { ...FAILING, state: 'disabled', target: { kind: 'email', to: [] }, lastError: 'no response' },
    'Disabled, failing since 14:05: no response (the mail server)',
  ],
])('the state of %j reads %s', (changes, text) => {
  expect(stateText(subscription(changes), when)).toBe(text)
})

test('an outcome shows the response, or why there was none', () => {
  const outcome = { milliseconds: 12, answer: '' }
  expect(outcomeText({ ...outcome, status: 200 })).toBe('Response 200 in 12 ms')
  expect(outcomeText({ ...outcome, status: 250, error: 'bo@x.org was refused: 550 gone' })).toBe(
    'Response 250 in 12 ms: bo@x.org was refused: 550 gone',
  )
  expect(outcomeText({ ...outcome, error: 'no such host' })).toBe('No response: no such host')
})
