import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import type { components } from '../../../../console/api/schema.ts'
import { ACTIONS, sentenceOf } from '../../../../console/pages/audit/audit-words.ts'

type Entry = components['schemas']['AuditEntry']

const NAMES = new Map([['key-1', 'Vans']])
const KEY = { kind: 'key', id: 'key-1' } as const
const DEVICE = { kind: 'device', id: 'van/1' } as const

function entry(action: string, subject: Entry['subject'], details: Entry['details'] = null): Entry {
  return {
    ...{ id: 'a', at: '2026-01-01T00:00:00.000Z', address: '::1', requestId: 'r' },
    ...{ actor: { kind: 'operator', id: 'op-1', name: 'ana@example.org' }, action },
    ...{ subject, details },
  }
}

test.each<[sentence: string, entry: Entry]>([
  [
    'created the key Gateway, which may send reports, read devices',
    entry('key.created', KEY, { name: 'Gateway', scopes: ['positions:write', 'devices:read'] }),
  ],
  ['revoked the key Vans', entry('key.revoked', KEY)],
  ['changed the key Vans, called “Buses”', entry('key.changed', KEY, { name: 'Buses' })],
  [
    'gave a new secret to the key Vans, the old one works for 7 d',
    entry('key.rotated', KEY, { graceSeconds: 604_800 }),
  ],
  ['revoked the key key-9', entry('key.revoked', { kind: 'key', id: 'key-9' })],
  [
    'changed the device van/1, its reports are rejected',
    entry('device.changed', DEVICE, { disabled: true }),
  ],
  [
    'changed the device van/1, labelled North',
    entry('device.changed', DEVICE, { labels: ['North'] }),
  ],
  [
    'added the operator bo@example.org, as viewer',
    entry(
      'operator.created',
      { kind: 'operator', id: 'op-2' },
      { email: 'bo@example.org', role: 'viewer', platform: false },
    ),
  ],
  ['signed in', entry('session.created', { kind: 'operator', id: 'op-1' })],
  ['key.blessed key Vans', entry('key.blessed', KEY)],
])('an entry reads “%s”', (expected, one) => {
  const { did, subject, more } = sentenceOf(one, NAMES)
  const said = subject === undefined ? did : `${did} ${subject.name}`
  expect(more === '' ? said : `${said}, ${more}`).toBe(expected)
})

test('what an entry is about is a link where the console has a page for it', () => {
  const pathOf = (subject: Entry['subject']) => sentenceOf(entry('x', subject), NAMES).subject?.path
  expect(pathOf(DEVICE)).toBe('/devices/van%2F1')
  expect(pathOf(KEY)).toBe('/keys/key-1')
  expect(pathOf({ kind: 'account', id: 'a' })).toBeUndefined()
})

test('every action that the admin API records has its words', () => {
  const folder = new URL('../../../../admin-api/', import.meta.url)
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const recorded = names
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => readFileSync(new URL(name, folder), 'utf8').match(/'\w+\.[\w-]+'/g) ?? [])
    .map((text) => text.slice(1, -1))
    .filter((text) => /^(account|device|key|operator|session|share)\.[a-z-]+$/.test(text))
  expect([...new Set(recorded)].sort()).toEqual(Object.keys(ACTIONS).sort())
})
