import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deviceStatus } from '../../../projector/device-status.ts'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import { ACCOUNTS_SCHEMA } from '../../../store/sqlite/accounts-schema.ts'
import { Database } from '../../../runtime/sqlite/database.ts'
import { READ_MODELS_SCHEMA } from '../../../store/sqlite/read-models-schema.ts'
import { MEASUREMENTS } from '../../../schemas/position-reported.ts'
import type { Store } from '../../../store/store.ts'
import {
  account,
  allDevices,
  batchOf,
  deviceErased,
  LogOfOneSuite,
  operator,
} from '../../contracts/store-samples.ts'
import type { ReportRejected } from '../../../schemas/report-rejected.ts'
import { REJECTIONS_SCHEMA } from '../../../store/sqlite/rejections-schema.ts'
import { positionReported, T0 } from '../../samples.ts'

describe('files of an earlier version', () => {
  let directory: string
  let store: Store | undefined

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'sqlite-migrations-'))
  })

  afterEach(async () => {
    await store?.close()
    store = undefined
    rmSync(directory, { recursive: true })
  })

  test('read models keep their devices, which are found by place and time, and their records', async () => {
    const log = new LogOfOneSuite()
    const measured = { accuracy: 4.5, altitude: -3, speed: 2, heading: 271, battery: 0 }
    const place = { latitude: 60.2, longitude: 24.9 }
    const entries = [
      log.append(positionReported({ deviceId: 'a', latitude: -33.9, longitude: 18.4 })),
      log.append(positionReported({ deviceId: 'b', ...place, ...measured })),
    ]
    const elsewhere = log.append(positionReported({ accountId: 'acc-2', deviceId: 'b' }))
    const old = new Database(
      join(directory, 'read-models-1.sqlite'),
      READ_MODELS_SCHEMA.slice(0, 1),
    )
    for (const { event, origin } of [...entries, elsewhere]) {
      const { partition, offset } = origin
      const status = deviceStatus(undefined, { event, origin })
      old
        .prepare('INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
        .run(
          ...[event.accountId, event.recordId, event.deviceId, event.keyId, event.latitude],
          ...[event.longitude, event.timestamp, event.timestampSource, event.receivedAt],
          ...MEASUREMENTS.map((name) => event[name] ?? null),
          ...[partition, offset],
        )
      old
        .prepare('INSERT INTO device_statuses VALUES (?, ?, ?, ?, ?, ?, ?)')
        .run(
          ...[status.accountId, status.deviceId, status.firstSeenAt, status.lastSeenAt, 1],
          ...[JSON.stringify(status.lastPosition), JSON.stringify(status.applied)],
        )
      old.prepare('REPLACE INTO checkpoints VALUES (?, ?)').run(partition, offset)
    }
    old.close()

    const told: string[] = []
    store = openSqliteStore({ directory, onMigration: (file) => told.push(file) })
    expect(told).toEqual([join(directory, 'read-models-1.sqlite')])
    const statuses = entries.map((entry) => deviceStatus(undefined, entry))
    expect((await allDevices(store, 'acc-1')).map(({ status }) => status)).toEqual(statuses)
    const bbox = { west: 24, south: 60, east: 25, north: 61 }
    const inside = await store.pageDevices({ accountId: 'acc-1', limit: 9, bbox })
    expect(inside.map(({ status }) => status)).toEqual([statuses[1]])
    const newest = await store.pageDevices({
      accountId: 'acc-1',
      limit: 1,
      sort: 'lastSeenAt',
      order: 'desc',
    })
    expect(newest.map(({ status }) => status)).toEqual([statuses[1]])
    expect(await store.checkpoint()).toEqual({ 0: 2 })
    for (const { event, origin } of [...entries, elsewhere]) {
      const { accountId, deviceId, recordId } = event
      const history = { accountId, deviceId, order: 'asc', limit: 9 } as const
      expect(await store.pagePositions(history)).toEqual([{ ...event, origin }])
      expect(await store.findPosition({ accountId, recordId })).toEqual({ ...event, origin })
    }
    const repeat = batchOf(log.append(entries[1]!.event))
    expect((await store.project(repeat))[0]).toMatchObject({ stored: [], repeated: [{}] })
    await store.project(batchOf(log.erase(deviceErased({ deviceId: 'a' }))))
    expect((await allDevices(store, 'acc-1')).map(({ status }) => status)).toEqual([statuses[1]])
    expect(await store.findPosition(entries[0]!.event)).toBeUndefined()
    const other = log.append(positionReported({ deviceId: 'c' }))
    await store.project(batchOf(other))
    const ofOther = { accountId: 'acc-1', deviceId: 'c', order: 'asc', limit: 9 } as const
    expect(await store.pagePositions(ofOther)).toHaveLength(1)
    expect(await store.findPosition(entries[1]!.event)).toMatchObject({ deviceId: 'b' })
  })

  test.each([1, 2, 3])('accounts of version %i keep all that operators made', async (version) => {
    const log = new LogOfOneSuite()
    const file = join(directory, 'accounts.sqlite')
    const old = new Database(file, ACCOUNTS_SCHEMA.slice(0, version))
    const hash = Buffer.alloc(32, 1)
    old.prepare('INSERT INTO accounts VALUES (?, ?, ?, ?)').run('acc-1', 'Tugs', 0, T0)
    old
      .prepare('INSERT INTO operators VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
      .run('op-1', 'acc-1', 'Ana@example.org', 'ana@example.org', 'admin', 1, 'scrypt$x', T0)
    old
      .prepare('INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?, NULL, NULL, NULL, NULL, NULL)')
      .run('key-1', 'acc-1', 'gateway', 'gps_a…z', '["positions:write"]', T0)
    old.prepare('INSERT INTO key_secrets VALUES (?, ?, NULL)').run(hash, 'key-1')
    old
      .prepare(`INSERT INTO device_settings VALUES (?, ?, ?, ?, ?${version === 3 ? ', 0' : ''})`)
      .run('acc-1', 'tracker-1', 'Ferry', 1, 0.5)
    old.close()

    store = openSqliteStore({ directory })
    expect(await store.deleteOperator({ accountId: 'acc-1', operatorId: 'op-1' })).toBe(
      'last admin',
    )
    expect(await store.pageAccounts({ limit: 9 })).toHaveLength(1)
    expect(await store.findGrant(hash)).toEqual({
      key: expect.objectContaining({ id: 'key-1', name: 'gateway' }),
      accountSuspended: false,
      disabledDevices: new Set(['tracker-1']),
    })
    expect(await store.devicesWithInterval('acc-1')).toMatchObject([{ deviceId: 'tracker-1' }])
    await store.project(batchOf(log.append(positionReported())))
    const device = { accountId: 'acc-1', deviceId: 'tracker-1' }
    expect((await store.findDevice(device))?.settings).toEqual({
      name: 'Ferry',
      disabled: true,
      expectedIntervalSeconds: 0.5,
    })
    // Said at a time that nobody wrote down: any erasure is later.
    await store.forgetDeviceSettings({ ...device, changedUpTo: 0 })
    expect((await store.findDevice(device))?.settings).toEqual({ disabled: false })
  })

  test('what the back office kept in tables of its own is there as documents', async () => {
    const old = new Database(join(directory, 'accounts.sqlite'), ACCOUNTS_SCHEMA.slice(0, 3))
    const accounts = old.prepare('INSERT INTO accounts VALUES (?, ?, ?, ?)')
    accounts.run('acc-1', 'Tugs "Süd"', 0, T0)
    accounts.run('acc-2', 'Ferries', 1, T0 + 1)
    const operators = old.prepare('INSERT INTO operators VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
    operators.run('op-1', 'acc-1', 'Ana@Example.org', 'ana@example.org', 'admin', 1, 'scrypt$a', T0)
    operators.run('op-2', 'acc-1', 'bo@example.org', 'bo@example.org', 'viewer', 0, 'scrypt$b', T0)
    operators.run('op-3', 'acc-2', 'cy@example.org', 'cy@example.org', 'admin', 0, 'scrypt$c', T0)
    const token = Buffer.from('0aff'.repeat(16), 'hex')
    old.prepare('INSERT INTO sessions VALUES (?, ?, ?, ?)').run(token, 'op-2', T0, T0 + 5)
    const keys = old.prepare('INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
    const plain = ['acc-1', 'gateway', 'gps_a…z', '["positions:write"]'] as const
    keys.run('key-1', ...plain, T0, null, null, null, null, null)
    const limits = [JSON.stringify(['a*', '"b"']), 120] as const
    keys.run('key-2', ...plain, T0 + 1, T0 + 90, T0 + 50, T0 + 40, ...limits)
    const secrets = old.prepare('INSERT INTO key_secrets VALUES (?, ?, ?)')
    const [first, now, before] = [1, 2, 3].map((n) => Buffer.alloc(32, n)) as [
      Buffer,
      Buffer,
      Buffer,
    ]
    secrets.run(first, 'key-1', null)
    secrets.run(now, 'key-2', null)
    secrets.run(before, 'key-2', T0 + 70)
    const entry = {
      id: '01KDVN9C000000000000000001',
      accountId: 'acc-1',
      at: T0,
      actor: { kind: 'operator', id: 'op-1', name: 'Ana@Example.org' },
      action: 'key.created',
      subject: { kind: 'key', id: 'key-1' },
      details: { name: 'gateway', expiresAt: null },
      address: '192.0.2.7',
      requestId: 'request-1',
    }
    old.prepare('INSERT INTO audit VALUES (?, ?, ?)').run('acc-1', entry.id, JSON.stringify(entry))
    old.prepare('INSERT INTO instances VALUES (?, ?, ?)').run('instance-1', T0, '{}')
    old.close()
    const refused = new Database(
      join(directory, 'rejections.sqlite'),
      REJECTIONS_SCHEMA.slice(0, 1),
    )
    const event: ReportRejected = {
      rejectionId: '01KDVN9C000000000000000002',
      accountId: 'acc-1',
      keyId: 'key-1',
      deviceId: 'truck',
      receivedAt: T0,
      error: 'INVALID_PARAMS',
      message: 'latitude is required',
      body: '{"deviceId":"truck \ud800"}\0',
      count: 1,
    }
    refused
      .prepare('INSERT INTO rejections VALUES (?, ?, ?, ?, ?, ?)')
      .run('acc-1', event.rejectionId, 'key-1', 'truck', T0, JSON.stringify(event))
    refused.close()

    store = openSqliteStore({ directory, clock: { now: () => T0 } })
    expect(await store.pageAccounts({ limit: 9 })).toEqual([
      { id: 'acc-1', name: 'Tugs "Süd"', suspended: false, createdAt: T0 },
      { id: 'acc-2', name: 'Ferries', suspended: true, createdAt: T0 + 1 },
    ])
    const ana = {
      id: 'op-1',
      accountId: 'acc-1',
      email: 'Ana@Example.org',
      role: 'admin',
      platform: true,
      passwordHash: 'scrypt$a',
      createdAt: T0,
    }
    expect(await store.findOperatorByEmail('ANA@example.org')).toEqual(ana)
    const bo = await store.findOperator({ accountId: 'acc-1', operatorId: 'op-2' })
    expect(bo).toMatchObject({ role: 'viewer', platform: false })
    const theirs = { accountId: 'acc-2', operatorId: 'op-3' }
    expect(await store.deleteOperator(theirs)).toBe('last admin')
    await store.changeOperator({ accountId: 'acc-1', operatorId: 'op-2', role: 'admin' })
    expect(await store.deleteOperator({ accountId: 'acc-1', operatorId: 'op-1' })).toBe(
      'last platform operator',
    )
    expect(
      await store.createFirstOperator({
        account: { id: 'acc-3', name: 'late', suspended: false, createdAt: T0 },
        operator: {
          ...ana,
          role: 'admin',
          id: 'op-9',
          accountId: 'acc-3',
          email: 'late@example.org',
        },
      }),
    ).toBe(false)
    expect(await store.findSession(token)).toMatchObject({
      session: { operatorId: 'op-2', createdAt: T0, lastSeenAt: T0 + 5 },
      account: { id: 'acc-1' },
    })
    expect((await store.findGrant(first))?.key).toEqual({
      id: 'key-1',
      accountId: 'acc-1',
      name: 'gateway',
      hint: 'gps_a…z',
      scopes: ['positions:write'],
      createdAt: T0,
    })
    const rotated = {
      ...{ id: 'key-2', accountId: 'acc-1', name: 'gateway', hint: 'gps_a…z' },
      ...{ scopes: ['positions:write'], createdAt: T0 + 1, expiresAt: T0 + 90 },
      ...{ revokedAt: T0 + 50, lastUsedAt: T0 + 40, deviceIds: ['a*', '"b"'], rateLimit: 120 },
      previousValidUntil: T0 + 70,
    }
    expect((await store.findGrant(now))?.key).toEqual(rotated)
    expect(await store.findGrant(before)).toMatchObject({
      key: rotated,
      secretValidUntil: T0 + 70,
    })
    expect((await store.findGrant(now))?.secretValidUntil).toBeUndefined()
    expect(await store.pageAudit({ accountId: 'acc-1', limit: 9 })).toEqual([entry])
    const rejections = { accountId: 'acc-1', deviceId: 'truck', limit: 9 }
    expect(await store.pageRejections(rejections)).toEqual([event])
  })

  test('a file without anything in it gets no operator of the platform from nowhere', async () => {
    new Database(join(directory, 'accounts.sqlite'), ACCOUNTS_SCHEMA.slice(0, 3)).close()
    store = openSqliteStore({ directory })
    const own = account()
    const first = { account: own, operator: operator({ accountId: own.id }) }
    expect(await store.createFirstOperator(first)).toBe(true)
    const found = await store.findOperatorByEmail(first.operator.email)
    expect(found).toEqual(first.operator)
  })
})
