import type { Operators, Session } from '../back-office.ts'
import { accountOf } from './accounts.ts'
import type { Collections, SessionDocument } from './collections.ts'
import { operatorOf } from './operator-documents.ts'

type Sessions = Pick<
  Operators,
  | 'createSession'
  | 'findSession'
  | 'touchSession'
  | 'deleteSession'
  | 'endSessions'
  | 'deleteSessions'
>

export function mongoSessions({
  collections: { accounts, operators, sessions },
}: {
  collections: Collections
}): Sessions {
  return {
    async createSession({ tokenHash, operatorId, createdAt, lastSeenAt }) {
      await sessions.insertOne({
        _id: tokenHash,
        operatorId,
        createdAt: new Date(createdAt),
        lastSeenAt: new Date(lastSeenAt),
      })
    },

    async findSession(tokenHash) {
      const session = await sessions.findOne({ _id: tokenHash })
      if (session === null) return undefined
      const operator = await operators.findOne({ _id: session.operatorId })
      if (operator === null) return undefined
      const account = await accounts.findOne({ _id: operator.accountId })
      if (account === null) return undefined
      return {
        session: sessionOf(session),
        operator: operatorOf(operator),
        account: accountOf(account),
      }
    },

    async touchSession({ tokenHash, lastSeenAt }) {
      await sessions.updateOne({ _id: tokenHash }, { $max: { lastSeenAt: new Date(lastSeenAt) } })
    },

    async deleteSession(tokenHash) {
      await sessions.deleteOne({ _id: tokenHash })
    },

    async endSessions({ operatorId, except }) {
      await sessions.deleteMany({
        operatorId,
        ...(except !== undefined && { _id: { $ne: except } }),
      })
    },

    async deleteSessions({ createdBefore, seenBefore }) {
      await sessions.deleteMany({
        $or: [
          { createdAt: { $lt: new Date(createdBefore) } },
          { lastSeenAt: { $lt: new Date(seenBefore) } },
        ],
      })
    },
  }
}

function sessionOf({ _id, createdAt, lastSeenAt, operatorId }: SessionDocument): Session {
  return {
    tokenHash: _id,
    operatorId,
    createdAt: createdAt.getTime(),
    lastSeenAt: lastSeenAt.getTime(),
  }
}
