import { expect, test } from '@jest/globals'
import { ensureFirstOperator } from '../../../admin-api/sign-in/first-operator.ts'
import { verifyPassword } from '../../../admin-api/sign-in/password.ts'
import { secretHash } from '../../../schemas/access/api-key.ts'
import type { Store } from '../../../store/store.ts'
import { withStore } from '../../contracts/store-suite.ts'
import { T0 } from '../../samples.ts'
import { openTemporaryStore } from '../../store/sqlite/open-sqlite-store.ts'

const clock = { now: () => T0 }

function withEmptyStore(run: (store: Store) => Promise<void>): Promise<void> {
  return withStore(openTemporaryStore, ({ store }) => run(store))
}

test('the first operator is generated with a valid password and key', () =>
  withEmptyStore(async (store) => {
    const made = await ensureFirstOperator({ store, clock, generate: true })
    expect(made?.email).toBe('admin@localhost')
    expect(made?.password).toMatch(/^[0-9A-Za-z]{24}$/)
    const operator = await store.findOperatorByEmail('admin@localhost')
    expect(operator).toMatchObject({ accountId: 'default', role: 'admin', platform: true })
    expect(await verifyPassword(made?.password ?? '', operator?.passwordHash ?? '')).toBe(true)
    const grant = await store.findGrant(secretHash(made?.apiKey ?? ''))
    expect(grant?.key).toMatchObject({
      accountId: 'default',
      name: 'first key',
      scopes: ['positions:write', 'positions:read', 'devices:read'],
    })
    expect(await store.findAccount('default')).toMatchObject({ name: 'default' })
  }))

test('a configured first operator is used, and nothing is generated', () =>
  withEmptyStore(async (store) => {
    const configured = { email: 'Ops@example.org', password: 'correct horse' }
    expect(await ensureFirstOperator({ store, clock, configured, generate: true })).toBeUndefined()
    const operator = await store.findOperatorByEmail('ops@example.org')
    expect(operator).toMatchObject({ email: 'Ops@example.org', role: 'admin', platform: true })
    expect(await verifyPassword('correct horse', operator?.passwordHash ?? '')).toBe(true)
    expect(await store.pageKeys({ accountId: 'default', limit: 10 })).toEqual([])
  }))

test('no first operator is created if none is requested', () =>
  withEmptyStore(async (store) => {
    expect(await ensureFirstOperator({ store, clock, generate: false })).toBeUndefined()
    expect(await store.findAccount('default')).toBeUndefined()
  }))

test('the first operator is created once, and later starts do not change it', () =>
  withEmptyStore(async (store) => {
    await ensureFirstOperator({ store, clock, generate: true })
    const before = await store.findOperatorByEmail('admin@localhost')
    const configured = { email: 'admin@localhost', password: 'another password' }
    expect(await ensureFirstOperator({ store, clock, generate: true })).toBeUndefined()
    expect(await ensureFirstOperator({ store, clock, configured, generate: true })).toBeUndefined()
    expect(await store.findOperatorByEmail('admin@localhost')).toEqual(before)
  }))

test('concurrent starts create one first operator with one key', () =>
  withEmptyStore(async (store) => {
    const made = await Promise.all(
      Array.from({ length: 8 }, () => ensureFirstOperator({ store, clock, generate: true })),
    )
    const secrets = made.filter((secret) => secret !== undefined)
    expect(secrets).toHaveLength(1)
    expect(await store.pageKeys({ accountId: 'default', limit: 10 })).toHaveLength(1)
    const operator = await store.findOperatorByEmail('admin@localhost')
    expect(await verifyPassword(secrets[0]?.password ?? '', operator?.passwordHash ?? '')).toBe(
      true,
    )
  }))
