import type { ApiKey, Keys, Scope } from '../back-office.ts'
import type { Database } from '../../runtime/sqlite/database.ts'

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
  readonly previous_valid_until: number | null
}

type GrantRow = Row & { readonly suspended: number; readonly secret_valid_until: number | null }

// The current secret's time is not bounded; there is at most one other.
const KEY = `keys.*, (SELECT max(valid_until) FROM key_secrets
  WHERE key_id = keys.id) AS previous_valid_until`

/** The statement by which a key is found by its secret, with the state of its account. */
export const GRANT = `SELECT ${KEY}, accounts.suspended, key_secrets.valid_until AS secret_valid_until
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
    `SELECT ${KEY} FROM keys WHERE account_id = ? ORDER BY created_at DESC, id DESC LIMIT ?`,
  )
  const nextPage = database.prepare<Row>(
    `SELECT ${KEY} FROM keys WHERE account_id = ?1 AND (created_at, id) <
       (SELECT created_at, id FROM keys WHERE account_id = ?1 AND id = ?2)
     ORDER BY created_at DESC, id DESC LIMIT ?3`,
  )
  const find = database.prepare<Row>(`SELECT ${KEY} FROM keys WHERE account_id = ? AND id = ?`)
  const change = database.prepare(
    `UPDATE keys SET name = ?, expires_at = ?, device_ids = ?, rate_limit = ?
     WHERE account_id = ? AND id = ?`,
  )
  const changeHint = database.prepare('UPDATE keys SET hint = ? WHERE id = ?')
  const removePrevious = database.prepare(
    'DELETE FROM key_secrets WHERE key_id = ? AND valid_until IS NOT NULL',
  )
  const endCurrent = database.prepare('UPDATE key_secrets SET valid_until = ? WHERE key_id = ?')
  const revoke = database.prepare(
    'UPDATE keys SET revoked_at = ? WHERE account_id = ? AND id = ? AND revoked_at IS NULL',
  )
  const grant = database.prepare<GrantRow>(GRANT)
  const touch = database.prepare(
    `UPDATE keys SET last_used_at = ?1
     WHERE id = ?2 AND (last_used_at IS NULL OR last_used_at < ?1)`,
  )

  function findKey(accountId: string, keyId: string): ApiKey | undefined {
    const row = find.get(accountId, keyId)
    return row && apiKey(row)
  }

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
          listed(key.deviceIds),
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

    findKey: async ({ accountId, keyId }) => findKey(accountId, keyId),

    async revokeKey({ accountId, keyId, revokedAt }) {
      revoke.run(revokedAt, accountId, keyId)
      return findKey(accountId, keyId)
    },

    changeKey: async ({ accountId, keyId, name, expiresAt, deviceIds, rateLimit }) =>
      database.transaction(() => {
        const row = find.get(accountId, keyId)
        if (row === undefined) return undefined
        change.run(
          name ?? row.name,
          expiresAt === undefined ? row.expires_at : expiresAt,
          deviceIds === undefined ? row.device_ids : listed(deviceIds),
          rateLimit === undefined ? row.rate_limit : rateLimit,
          accountId,
          keyId,
        )
        return findKey(accountId, keyId)
      }),

    rotateKey: async ({ accountId, keyId, secretHash, hint, previousValidUntil }) =>
      database.transaction(() => {
        const key = findKey(accountId, keyId)
        if (key === undefined) return undefined
        if (key.revokedAt !== undefined) return 'revoked'
        removePrevious.run(keyId)
        endCurrent.run(previousValidUntil, keyId)
        insertSecret.run(secretHash, keyId)
        changeHint.run(hint, keyId)
        return findKey(accountId, keyId)
      }),

    async findGrant(secretHash) {
      const row = grant.get(secretHash)
      if (row === undefined) return undefined
      return {
        key: apiKey(row),
        ...(row.secret_valid_until !== null && { secretValidUntil: row.secret_valid_until }),
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

function listed(deviceIds: readonly string[] | null | undefined): string | null {
  return deviceIds === null || deviceIds === undefined ? null : JSON.stringify(deviceIds)
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
    ...(row.previous_valid_until !== null && { previousValidUntil: row.previous_valid_until }),
  }
}
