import { expect, test } from '@jest/globals'
import { Binary } from 'mongodb'
import { T0 } from '../../samples.ts'
import { describeWith } from '../../services/describe-with.ts'
import { withDatabase, type TestDatabase } from './database.ts'

const at = (time: number) => new Date(time)

await describeWith(['mongodb'], 'a MongoDB database of the version before', ({ mongodb }) => {
  test('keeps all that operators made, as documents, in whatever state the first try left it', async () => {
    await withDatabase(mongodb, async (database) => {
      await writeVersion2(database)
      const store = await database.open()
      expect(await store.pageAccounts({ limit: 9 })).toEqual([
        { id: 'acc-1', name: 'Tugs', suspended: false, createdAt: T0 },
        { id: 'acc-2', name: 'Ferries', suspended: true, createdAt: T0 + 1 },
      ])
      expect(await store.findOperatorByEmail('ANA@example.org')).toEqual({
        id: 'op-1',
        accountId: 'acc-1',
        email: 'Ana@Example.org',
        role: 'admin',
        platform: true,
        passwordHash: 'scrypt$a',
        createdAt: T0,
      })
      const bo = await store.findOperator({ accountId: 'acc-1', operatorId: 'op-2' })
      expect(bo).toMatchObject({ role: 'viewer', platform: false })
      for (const [accountId, operatorId] of [
        ['acc-1', 'op-1'],
        ['acc-2', 'op-3'],
      ] as const) {
        expect(await store.deleteOperator({ accountId, operatorId })).toBe('last admin')
      }
      const token = Buffer.alloc(32, 9)
      expect(await store.findSession(token)).toMatchObject({
        session: { operatorId: 'op-2', createdAt: T0, lastSeenAt: T0 + 5 },
        account: { id: 'acc-1' },
      })
      const key = {
        ...{ id: 'key-1', accountId: 'acc-1', name: 'gateway', hint: 'gps_a…z', rateLimit: 5 },
        ...{ scopes: ['positions:write'], createdAt: T0, expiresAt: T0 + 90, revokedAt: T0 + 50 },
        ...{ lastUsedAt: T0 + 40, deviceIds: ['a*'], previousValidUntil: T0 + 70 },
      }
      expect(await store.findGrant(Buffer.alloc(32, 1))).toEqual({
        key,
        accountSuspended: false,
        disabledDevices: new Set(['tracker-1']),
      })
      expect(await store.findGrant(Buffer.alloc(32, 2))).toMatchObject({
        key,
        secretValidUntil: T0 + 70,
      })
      expect(await store.pageAudit({ accountId: 'acc-1', limit: 9 })).toEqual([
        {
          ...{ id: 'audit-1', accountId: 'acc-1', at: T0, action: 'key.created' },
          ...{ actor: { kind: 'operator', id: 'op-1', name: 'ana' }, address: '::1' },
          ...{ subject: { kind: 'key', id: 'key-1' }, requestId: 'r', details: { $set: null } },
        },
      ])
      const refused = await store.pageRejections({ accountId: 'acc-1', keyId: 'key-1', limit: 9 })
      expect(refused).toEqual([
        {
          ...{ rejectionId: 'rejected-1', accountId: 'acc-1', keyId: 'key-1', receivedAt: T0 },
          ...{ error: 'INVALID_PARAMS', message: 'no', count: 1, deviceId: 'truck' },
        },
      ])
    })
  })

  test('is moved on where a process died at it, and nothing in it is set back', async () => {
    await withDatabase(mongodb, async (database) => {
      await writeVersion2(database)
      await (await database.open()).close()
      const { db } = database
      await db
        .collection<{ _id: string }>('meta')
        .updateOne({ _id: 'schema' }, { $set: { version: 2 } })
      // As it was left by one who died before the last collections were dropped.
      await db.collection<{ _id: string }>('audit').insertOne({
        _id: 'audit-2',
        ...{ accountId: 'acc-1', at: at(T0 + 1), action: 'key.revoked', requestId: 'r' },
        ...{ actor: { kind: 'operator', id: 'op-1', name: 'ana' }, address: '::1' },
        subject: { kind: 'key', id: 'key-1' },
      } as never)
      const stores = await Promise.all([database.open(), database.open()])
      const store = stores[0]
      const entries = await store.pageAudit({ accountId: 'acc-1', limit: 9 })
      expect(entries.map(({ id }) => id)).toEqual(['audit-2', 'audit-1'])
      const ana = await store.findOperatorByEmail('ana@example.org')
      expect(ana).toMatchObject({ role: 'admin', platform: true })
      const names = (await db.listCollections().toArray()).map(({ name }) => name)
      for (const gone of ['operators', 'sessions', 'audit', 'rejections', 'instances']) {
        expect(names).not.toContain(gone)
      }
      // What ingest APIs of the version before look keys up in.
      expect(names).toEqual(expect.arrayContaining(['api_keys', 'accounts']))
    })
  })

  test('of more documents than are moved at once is moved in full', async () => {
    await withDatabase(mongodb, async (database) => {
      const { db } = database
      await writeVersion2({ db })
      const entries = Array.from({ length: 1_203 }, (_, n) => ({
        _id: `audit-2-${String(n).padStart(5, '0')}`,
        ...{ accountId: 'acc-1', at: at(T0 + n), action: 'key.changed', requestId: 'r' },
        ...{ actor: { kind: 'operator', id: 'op-1', name: 'ana' }, address: '::1' },
        subject: { kind: 'key', id: 'key-1' },
      }))
      await db.collection<{ _id: string }>('audit').insertMany(entries)
      const store = await database.open()
      expect(await store.pageAudit({ accountId: 'acc-1', limit: 2_000 })).toHaveLength(1_204)
    })
  })
})

async function writeVersion2({ db }: Pick<TestDatabase, 'db'>): Promise<void> {
  const write = (name: string, documents: object[]) => db.collection(name).insertMany(documents)
  await write('meta', [
    { _id: 'read-models', generation: 1 },
    { _id: 'schema', version: 2 },
  ])
  await write('accounts', [
    { _id: 'acc-1', name: 'Tugs', suspended: false, createdAt: at(T0) },
    { _id: 'acc-2', name: 'Ferries', suspended: true, createdAt: at(T0 + 1) },
  ])
  const operator = { platform: false, createdAt: at(T0) }
  await write('operators', [
    {
      ...{ ...operator, _id: 'op-1', accountId: 'acc-1', role: 'admin', platform: true },
      ...{ email: 'Ana@Example.org', emailLowerCase: 'ana@example.org', first: true },
      passwordHash: 'scrypt$a',
    },
    {
      ...{ ...operator, _id: 'op-2', accountId: 'acc-1', role: 'viewer' },
      ...{ email: 'bo@example.org', emailLowerCase: 'bo@example.org', passwordHash: 'scrypt$b' },
    },
    {
      ...{ ...operator, _id: 'op-3', accountId: 'acc-2', role: 'admin' },
      ...{ email: 'cy@example.org', emailLowerCase: 'cy@example.org', passwordHash: 'scrypt$c' },
    },
  ])
  const token = new Binary(Buffer.alloc(32, 9))
  await write('sessions', [
    { _id: token, operatorId: 'op-2', createdAt: at(T0), lastSeenAt: at(T0 + 5) },
  ])
  await write('api_keys', [
    {
      ...{ _id: 'key-1', accountId: 'acc-1', name: 'gateway', hint: 'gps_a…z', rateLimit: 5 },
      ...{ scopes: ['positions:write'], createdAt: at(T0), expiresAt: at(T0 + 90) },
      ...{ revokedAt: at(T0 + 50), lastUsedAt: at(T0 + 40), deviceIds: ['a*'] },
      secrets: [
        { hash: new Binary(Buffer.alloc(32, 1)) },
        { hash: new Binary(Buffer.alloc(32, 2)), validUntil: at(T0 + 70) },
      ],
    },
  ])
  await write('device_settings', [
    { _id: 'acc-1/tracker-1', accountId: 'acc-1', deviceId: 'tracker-1', disabled: true },
  ])
  await write('audit', [
    {
      ...{ _id: 'audit-1', accountId: 'acc-1', at: at(T0), action: 'key.created' },
      ...{ actor: { kind: 'operator', id: 'op-1', name: 'ana' }, address: '::1' },
      ...{ subject: { kind: 'key', id: 'key-1' }, requestId: 'r', details: { $set: null } },
    },
  ])
  await write('rejections', [
    {
      ...{ _id: 'rejected-1', accountId: 'acc-1', keyId: 'key-1', receivedAt: at(T0) },
      ...{ error: 'INVALID_PARAMS', message: 'no', count: 1, deviceId: 'truck' },
    },
  ])
  await write('instances', [{ _id: 'instance-1', reportedAt: at(T0), startedAt: at(T0) }])
}
