import {
  REJECTIONS_KEPT,
  REJECTIONS_KEPT_MS,
  type ReportRejected,
} from '../../schemas/report-rejected.ts'
import type { Rejections } from '../back-office.ts'
import type { Database, Statement, Value } from '../../runtime/sqlite/database.ts'

/**
 * A file of its own: a flood of bad reports writes here without end, and must neither hold up who
 * signs in or changes a key, nor swell the one file that nobody can do without.
 */
export const REJECTIONS_SCHEMA = [
  `CREATE TABLE rejections (
     account_id TEXT NOT NULL,
     rejection_id TEXT NOT NULL,
     key_id TEXT NOT NULL,
     device_id TEXT,
     received_at INTEGER NOT NULL,
     event TEXT NOT NULL
   ) STRICT;
   CREATE UNIQUE INDEX rejections_by_id ON rejections (account_id, rejection_id);
   CREATE INDEX rejections_by_key ON rejections (account_id, key_id, rejection_id);
   CREATE INDEX rejections_by_device ON rejections (account_id, device_id, rejection_id);
   CREATE INDEX rejections_by_age ON rejections (received_at);`,
]

type Row = { readonly event: string }

/** The statement for a page, an index walk; a device has fewer rejections than a key. */
export function rejectionPage(filters: { keyId: boolean; deviceId: boolean; after: boolean }) {
  return `SELECT event FROM rejections WHERE account_id = ?
    ${filters.keyId ? `AND ${filters.deviceId ? '+' : ''}key_id = ?` : ''}
    ${filters.deviceId ? 'AND device_id = ?' : ''}
    ${filters.after ? 'AND rejection_id < ?' : ''}
    ORDER BY rejection_id DESC LIMIT ?`
}

export function sqliteRejections(database: Database): Rejections {
  const insert = database.prepare(
    `INSERT INTO rejections VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (account_id, rejection_id) DO NOTHING`,
  )
  const removeOld = database.prepare(
    'DELETE FROM rejections WHERE received_at < (SELECT max(received_at) FROM rejections) - ?',
  )
  const removeBeyond = database.prepare(
    `DELETE FROM rejections WHERE account_id = ?1 AND rejection_id <=
       (SELECT rejection_id FROM rejections WHERE account_id = ?1
        ORDER BY rejection_id DESC LIMIT 1 OFFSET ${REJECTIONS_KEPT})`,
  )
  const pages = new Map<string, Statement<Row>>()

  function pageStatement(sql: string): Statement<Row> {
    const statement = pages.get(sql) ?? database.prepare<Row>(sql)
    pages.set(sql, statement)
    return statement
  }

  return {
    async saveRejections(events) {
      if (events.length === 0) return
      database.transaction(() => {
        for (const event of events) {
          const { accountId, rejectionId, keyId, receivedAt } = event
          const deviceId = soughtDeviceId(event)
          insert.run(accountId, rejectionId, keyId, deviceId, receivedAt, JSON.stringify(event))
        }
        removeOld.run(REJECTIONS_KEPT_MS)
        const accountIds = new Set(events.map(({ accountId }) => accountId))
        for (const accountId of accountIds) removeBeyond.run(accountId)
      })
    },

    async pageRejections({ accountId, keyId, deviceId, limit, after }) {
      const filters = [keyId, deviceId, after]
      const sql = rejectionPage({
        keyId: keyId !== undefined,
        deviceId: deviceId !== undefined,
        after: after !== undefined,
      })
      const values = filters.filter((value): value is string => value !== undefined)
      const all: Value[] = [accountId, ...values, limit]
      const rows = pageStatement(sql).all(...all)
      return rows.map(({ event }) => JSON.parse(event) as ReportRejected)
    },
  }
}

/**
 * A refused report may name a device as no device can be called. SQLite would cut or change such a
 * text, so it is not looked up by it; the event, being JSON, keeps it as it was.
 */
function soughtDeviceId({ deviceId }: ReportRejected): string | null {
  if (deviceId === undefined || deviceId.includes('\0') || !deviceId.isWellFormed()) return null
  return deviceId
}
