import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deviceStatus } from '../../../projector/device-status.ts'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import { ACCOUNTS_SCHEMA } from '../../../store/sqlite/accounts-schema.ts'
import { Database } from '../../../runtime/sqlite/database.ts'
import { READ_MODELS_SCHEMA } from '../../../store/sqlite/read-models-schema.ts'
import type { Store } from '../../../store/store.ts'
import { allDevices, batchOf, deviceErased, LogOfOneSuite } from '../../contracts/store-samples.ts'
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

  test('read models keep their devices, which are found by place and time', async () => {
    const log = new LogOfOneSuite()
    const entries = [
      log.append(positionReported({ deviceId: 'a', latitude: -33.9, longitude: 18.4 })),
      log.append(positionReported({ deviceId: 'b', latitude: 60.2, longitude: 24.9 })),
    ]
    const old = new Database(
      join(directory, 'read-models-1.sqlite'),
      READ_MODELS_SCHEMA.slice(0, 1),
    )
    for (const { event, origin } of entries) {
      const { partition, offset } = origin
      const status = deviceStatus(undefined, { event, origin })
      old
        .prepare('INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
        .run(
          ...[event.accountId, event.recordId, event.deviceId, event.keyId, event.latitude],
          ...[event.longitude, event.timestamp, event.timestampSource, event.receivedAt],
          ...[null, null, null, null, null, partition, offset],
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

    store = openSqliteStore({ directory })
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
    expect(await store.checkpoint()).toEqual({ 0: 1 })
    await store.project(batchOf(log.erase(deviceErased({ deviceId: 'a' }))))
    expect((await allDevices(store, 'acc-1')).map(({ status }) => status)).toEqual([statuses[1]])
  })

  test.each([1, 2])('accounts of version %i keep all that operators made', async (version) => {
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
      .prepare('INSERT INTO device_settings VALUES (?, ?, ?, ?, ?)')
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
    expect(await store.devicesWithInterval('acc-1')).toEqual(['tracker-1'])
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
})
