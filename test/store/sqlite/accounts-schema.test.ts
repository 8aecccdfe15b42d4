import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { DatabaseSync } from '@photostructure/sqlite'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { ACCOUNTS_SCHEMA } from '../../../store/sqlite/accounts-schema.ts'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import type { AuditEntry } from '../../../store/back-office.ts'
import type { Store } from '../../../store/store.ts'
import { directoryForEachTest } from '../../directory-for-each-test.ts'
import { T0 } from '../../samples.ts'

const directory = directoryForEachTest()
let store: Store

beforeEach(() => {
  store = openSqliteStore({ directory: directory() })
})

afterEach(() => store.close())

test.each([
  "UPDATE audit SET document = '{}'",
  "UPDATE audit SET document = json_set(document, '$.actor.name', 'ivo@example.org')",
  "UPDATE audit SET id = '01KDVN9C000000000000000002'",
  'DELETE FROM audit',
])('the audit refuses %s', async (sql) => {
  const entry: AuditEntry = {
    id: '01KDVN9C000000000000000001',
    accountId: 'acc-1',
    at: T0,
    actor: { kind: 'operator', id: 'operator-1', name: 'ana@example.org' },
    action: 'key.created',
    subject: { kind: 'key', id: 'key-1' },
    address: '192.0.2.7',
    requestId: 'request-1',
  }
  await store.appendAudit(entry)
  const raw = new DatabaseSync(join(directory(), 'accounts.sqlite'))
  expect(() => raw.exec(sql)).toThrow('the audit is append-only')
  raw.close()
  expect(await store.pageAudit({ accountId: 'acc-1', limit: 9 })).toEqual({ entries: [entry] })
})

test('the audit of version 0.2.0 forgets an erased device too', async () => {
  const file = join(directory(), 'accounts.sqlite')
  const entry = {
    id: '01KDVN9C000000000000000001',
    accountId: 'acc-1',
    at: T0,
    action: 'device.changed',
    actor: { kind: 'operator', id: 'operator-1', name: 'ana@example.org' },
    subject: { kind: 'device', id: 'van' },
    details: { name: 'Name of a person' },
    address: '192.0.2.7',
    requestId: 'request-1',
  }
  const raw = new DatabaseSync(file)
  raw.exec(`CREATE TRIGGER audit_refuses_UPDATE BEFORE UPDATE ON audit
    BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END`)
  const insert = raw.prepare('INSERT INTO audit (id, document) VALUES (?, ?)')
  insert.run(entry.id, JSON.stringify(entry))
  raw.close()
  const next = openSqliteStore({ directory: directory() })
  await next.forgetAuditDetails({ accountId: 'acc-1', deviceId: 'van', upTo: T0 })
  const { entries } = await next.pageAudit({ accountId: 'acc-1', limit: 9 })
  expect(entries).toEqual([{ ...entry, details: undefined }])
  await next.close()
})

test('a store of version 0.2.0 is given labels, and keeps its settings', async () => {
  const older = join(directory(), 'older')
  mkdirSync(older)
  const raw = new DatabaseSync(join(older, 'accounts.sqlite'))
  raw.exec(`PRAGMA journal_mode = WAL; ${ACCOUNTS_SCHEMA[0]}; PRAGMA user_version = 1`)
  raw.exec("INSERT INTO device_settings VALUES ('acc-1', 'van', 'Van', 0, NULL, 1)")
  raw.close()
  await openSqliteStore({ directory: older }).close()
  const migrated = new DatabaseSync(join(older, 'accounts.sqlite'))
  const settings = migrated.prepare('SELECT name, labels FROM device_settings').all()
  migrated.close()
  expect(settings).toEqual([{ name: 'Van', labels: null }])
})
