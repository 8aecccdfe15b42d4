import { FACT_TYPES } from '../../../../schemas/facts/types.ts'
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import type { components } from '../../../../console/api/schema.ts'
import { ACTIONS, sentenceOf } from '../../../../console/pages/audit/audit-words.ts'

type Entry = components['schemas']['AuditEntry']

const NAMES = new Map([['key-1', 'Vans']])
const KEY = { kind: 'key', id: 'key-1' } as const
const OPERATOR = { kind: 'operator', id: 'op-2' } as const
const DEVICE = { kind: 'device', id: 'van/1' } as const
const DEVICES = { kind: 'devices', id: 'acc-1' } as const

const timeText = (ms: number) => new Date(ms).toISOString()

function entry(action: string, subject: Entry['subject'], details: Entry['details'] = null): Entry {
  return {
    id: 'a',
    at: '2026-01-01T00:00:00.000Z',
    address: '::1',
    requestId: 'r',
    actor: { kind: 'operator', id: 'op-1', name: 'ana@example.org' },
    action,
    subject,
    details,
  }
}

test.each<[sentence: string, entry: Entry]>([
  [
    'created the key Gateway: send reports, read devices',
    entry('key.created', KEY, { name: 'Gateway', scopes: ['positions:write', 'devices:read'] }),
  ],
  ['revoked the key Vans', entry('key.revoked', KEY)],
  [
    'changed the key Vans: name “Buses”, all devices, no separate limit, no expiry',
    entry('key.changed', KEY, { name: 'Buses', deviceIds: null, rateLimit: null, expiresAt: null }),
  ],
  [
    'changed the key Vans: van-*, bus-1, 600 positions per minute, expires 2026-01-01T00:00:00.000Z',
    entry('key.changed', KEY, {
      deviceIds: ['van-*', 'bus-1'],
      rateLimit: 600,
      expiresAt: '2026-01-01T00:00:00.000Z',
    }),
  ],
  [
    'replaced the secret of the key Vans: the old one works for 7 d more',
    entry('key.rotated', KEY, { graceSeconds: 604_800 }),
  ],
  [
    'imported geofences',
    entry('geofences.imported', { kind: 'geofences', id: 'default' }, { created: 3, refused: 0 }),
  ],
  ['revoked the key key-9', entry('key.revoked', { kind: 'key', id: 'key-9' })],
  ['disabled the device van/1', entry('device.changed', DEVICE, { disabled: true })],
  ['enabled the device van/1', entry('device.changed', DEVICE, { disabled: false })],
  [
    'changed the device van/1: disabled, labels North, reports every 10 minutes',
    entry('device.changed', DEVICE, {
      disabled: true,
      labels: ['North'],
      expectedIntervalSeconds: 600,
    }),
  ],
  [
    'changed the device van/1: no name, no labels, no reporting interval',
    entry('device.changed', DEVICE, { name: null, labels: [], expectedIntervalSeconds: null }),
  ],
  [
    'created the operator bo@example.org: viewer',
    entry('operator.created', OPERATOR, {
      email: 'bo@example.org',
      role: 'viewer',
      platform: false,
    }),
  ],
  [
    'changed the operator op-2: new password',
    entry('operator.changed', OPERATOR, { passwordChanged: true }),
  ],
  ['changed their password', entry('operator.password-changed', OPERATOR)],
  ['signed in', entry('session.created', OPERATOR)],
  [
    'suspended the account Tugs',
    entry('account.suspended', { kind: 'account', id: 'a' }, { name: 'Tugs' }),
  ],
  ['key.blessed key Vans', entry('key.blessed', KEY)],
  [
    'labelled the devices van/1, van/2: added North, Night, removed South',
    entry('devices.labelled', DEVICES, {
      deviceIds: ['van/1', 'van/2'],
      add: ['North', 'Night'],
      remove: ['South'],
    }),
  ],
  [
    'labelled the devices van-0, van-1, van-2, van-3, van-4 and 995 more: added North',
    entry('devices.labelled', DEVICES, {
      deviceIds: Array.from({ length: 1_000 }, (_, n) => `van-${n}`),
      add: ['North'],
    }),
  ],
])('an entry reads “%s”', (expected, one) => {
  const { did, subjects, others, more } = sentenceOf(one, NAMES, timeText)
  const named = [did, subjects.map(({ name }) => name).join(', ')].join(' ').trim()
  const said = others === 0 ? named : `${named} and ${others} more`
  expect(more === '' ? said : `${said}: ${more}`).toBe(expected)
})

test('the subject is a link if the console still has a page for it', () => {
  const pathOf = (subject: Entry['subject'], action = 'x') =>
    sentenceOf(entry(action, subject), NAMES, timeText).subjects[0]?.path
  expect(pathOf(DEVICE)).toBe('/devices/van%2F1')
  expect(pathOf(KEY, 'key.revoked')).toBe('/keys/key-1')
  expect(pathOf({ kind: 'account', id: 'a' })).toBeUndefined()
  expect(pathOf(DEVICE, 'device.erased')).toBeUndefined()
  const labelled = entry('devices.labelled', DEVICES, { deviceIds: ['a', 'b/c'], add: ['x'] })
  expect(sentenceOf(labelled, NAMES, timeText).subjects.map(({ path }) => path)).toEqual([
    '/devices/a',
    '/devices/b%2Fc',
  ])
})

test('every action that the admin API records has a sentence', () => {
  const folder = new URL('../../../../admin-api/', import.meta.url)
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const files = names.filter((name) => name.endsWith('.ts')).map((name) => new URL(name, folder))
  const texts = [...files, new URL('../store/back-office.ts', folder)].map((file) =>
    readFileSync(file, 'utf8'),
  )
  const named = texts
    .flatMap((text) => text.match(/'\w+\.[\w-]+'/g) ?? [])
    .map((text) => text.slice(1, -1))
    .filter((text) =>
      /^(account|devices?|fact|geofences?|import|key|operator|rule|session|share|subscription)\.[a-z-]+$/.test(
        text,
      ),
    )
  const events: readonly string[] = FACT_TYPES
  // Calls made by `resource()` name their own actions.
  const made = texts.flatMap((text) => {
    const [, kind] = /resource\(\{\s*kind: '(\w+)'/.exec(text) ?? []
    return Object.entries({ create: 'created', change: 'changed', remove: 'deleted' }).flatMap(
      ([call, happened]) => (text.includes(`${kind}s.${call}({`) ? `${kind}.${happened}` : []),
    )
  })
  const recorded = [...named.filter((name) => !events.includes(name)), ...made]
  expect([...new Set(recorded)].sort()).toEqual(Object.keys(ACTIONS).sort())
})
