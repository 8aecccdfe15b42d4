import type { Operators } from '../back-office.ts'
import type { Database } from '../../runtime/sqlite/database.ts'
import {
  ACCOUNT,
  accountOf,
  OPERATOR,
  operatorOf,
  type AccountRow,
  type OperatorRow,
} from './operator-rows.ts'

type Sessions = Pick<
  Operators,
  | 'createSession'
  | 'findSession'
  | 'touchSession'
  | 'deleteSession'
  | 'endSessions'
  | 'deleteSessions'
>

type SessionRow = {
  readonly token_hash: Uint8Array
  readonly session_created_at: number
  readonly last_seen_at: number
}

export function sqliteSessions(database: Database): Sessions {
  const insert = database.prepare(
    // Of an operator who was removed just now there is no session: nothing to fail for.
    `INSERT INTO sessions SELECT ?1, id, ?3, ?4 FROM operators WHERE id = ?2`,
  )
  const find = database.prepare<SessionRow & OperatorRow & AccountRow>(
    `SELECT sessions.token_hash, sessions.created_at AS session_created_at, sessions.last_seen_at,
       ${OPERATOR}, ${ACCOUNT}
     FROM sessions JOIN operators ON operators.id = sessions.operator_id
     JOIN accounts ON accounts.id = operators.account_id
     WHERE sessions.token_hash = ?`,
  )
  const touch = database.prepare(
    'UPDATE sessions SET last_seen_at = max(last_seen_at, ?) WHERE token_hash = ?',
  )
  const remove = database.prepare('DELETE FROM sessions WHERE token_hash = ?')
  const removeOthers = database.prepare(
    'DELETE FROM sessions WHERE operator_id = ? AND token_hash IS NOT ?',
  )
  const removeOld = database.prepare(
    'DELETE FROM sessions WHERE created_at < ? OR last_seen_at < ?',
  )

  return {
    async createSession({ tokenHash, operatorId, createdAt, lastSeenAt }) {
      insert.run(tokenHash, operatorId, createdAt, lastSeenAt)
    },

    async findSession(tokenHash) {
      const row = find.get(tokenHash)
      if (row === undefined) return undefined
      const session = {
        tokenHash: row.token_hash,
        operatorId: row.operator_id,
        createdAt: row.session_created_at,
        lastSeenAt: row.last_seen_at,
      }
      return { session, operator: operatorOf(row), account: accountOf(row) }
    },

    async touchSession({ tokenHash, lastSeenAt }) {
      touch.run(lastSeenAt, tokenHash)
    },

    async deleteSession(tokenHash) {
      remove.run(tokenHash)
    },

    async endSessions({ operatorId, except }) {
      removeOthers.run(operatorId, except ?? null)
    },

    async deleteSessions({ createdBefore, seenBefore }) {
      removeOld.run(createdBefore, seenBefore)
    },
  }
}
