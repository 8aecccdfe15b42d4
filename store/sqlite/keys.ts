import type { ApiKey, Keys, Scope } from '../store.ts'
import type { Database } from './database.ts'

type Row = {
  readonly id: string
  readonly account_id: string
  readonly name: string
  readonly hint: string
  readonly scopes: string
  readonly created_at: number
  readonly expires_at: number | null
  readonly revoked_at: number | null
  readonly last_used_at: number | null
  readonly device_ids: string | null
  readonly rate_limit: number | null
}

/** The statement by which a key is found by its secret, with the state of its account. */
export const GRANT = `SELECT keys.*, accounts.suspended
  FROM key_secrets JOIN keys ON keys.id = key_secrets.key_id
  JOIN accounts ON accounts.id = keys.account_id
  WHERE key_secrets.secret_hash = ?`

export function sqliteKeys(
  database: Database,
  { disabledDevices }: { disabledDevices: (accountId: string) => Set<string> },
): Keys {
  const insert = database.prepare('INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const insertSecret = database.prepare('INSERT INTO key_secrets VALUES (?, ?, NULL)')
  const firstPage = database.prepare<Row>(
    'SELECT * FROM keys WHERE account_id = ? ORDER BY created_at DESC, id DESC LIMIT ?',
  )
  const nextPage = database.prepare<Row>(
    `SELECT * FROM keys WHERE account_id = ?1 AND (created_at, id) <
       (SELECT created_at, id FROM keys WHERE account_id = ?1 AND id = ?2)
     ORDER BY created_at DESC, id DESC LIMIT ?3`,
  )
  const find = database.prepare<Row>('SELECT * FROM keys WHERE account_id = ? AND id = ?')
  const revoke = database.prepare(
    'UPDATE keys SET revoked_at = ? WHERE account_id = ? AND id = ? AND revoked_at IS NULL',
  )
  const grant = database.prepare<Row & { suspended: number }>(GRANT)
  const touch = database.prepare(
    `UPDATE keys SET last_used_at = ?1
     WHERE id = ?2 AND (last_used_at IS NULL OR last_used_at < ?1)`,
  )

  return {
    async createKey(key, secretHash) {
      database.transaction(() => {
        insert.run(
          key.id,
          key.accountId,
          key.name,
          key.hint,
          JSON.stringify(key.scopes),
          key.createdAt,
          key.expiresAt ?? null,
          key.revokedAt ?? null,
          key.lastUsedAt ?? null,
          key.deviceIds === undefined ? null : JSON.stringify(key.deviceIds),
          key.rateLimit ?? null,
        )
        insertSecret.run(secretHash, key.id)
      })
    },

    async pageKeys({ accountId, limit, after }) {
      const rows =
        after === undefined
          ? firstPage.all(accountId, limit)
          : nextPage.all(accountId, after, limit)
      return rows.map(apiKey)
    },

    async findKey({ accountId, keyId }) {
      const row = find.get(accountId, keyId)
      return row && apiKey(row)
    },

    async revokeKey({ accountId, keyId, revokedAt }) {
      revoke.run(revokedAt, accountId, keyId)
      const row = find.get(accountId, keyId)
      return row && apiKey(row)
    },

    async findGrant(secretHash) {
      const row = grant.get(secretHash)
      if (row === undefined) return undefined
      return {
        key: apiKey(row),
        accountSuspended: row.suspended === 1,
        disabledDevices: disabledDevices(row.account_id),
      }
    },

    async touchKeys(usedAt) {
      if (usedAt.size === 0) return
      database.transaction(() => {
        for (const [keyId, time] of usedAt) touch.run(time, keyId)
      })
    },
  }
}

function apiKey(row: Row): ApiKey {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    hint: row.hint,
    scopes: JSON.parse(row.scopes) as Scope[],
    createdAt: row.created_at,
    ...(row.expires_at !== null && { expiresAt: row.expires_at }),
    ...(row.revoked_at !== null && { revokedAt: row.revoked_at }),
    ...(row.last_used_at !== null && { lastUsedAt: row.last_used_at }),
    ...(row.device_ids !== null && { deviceIds: JSON.parse(row.device_ids) as string[] }),
    ...(row.rate_limit !== null && { rateLimit: row.rate_limit }),
  }
}
