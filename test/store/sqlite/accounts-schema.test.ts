import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { DatabaseSync } from '@photostructure/sqlite'
import { join } from 'node:path'
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
])('the audit rejects %s', async (sql) => {
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
