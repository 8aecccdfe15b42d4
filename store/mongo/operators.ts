import type { Account, Operator, Operators, Session } from '../store.ts'
import type {
  AccountDocument,
  Collections,
  OperatorDocument,
  SessionDocument,
} from './collections.ts'
import { isDuplicateKey } from './driver-errors.ts'

export function mongoOperators({
  collections: { accounts, operators, sessions },
}: {
  collections: Collections
}): Operators {
  /** Gives whether it was made now: there may be one of this id. */
  async function addFirstAccount(account: Account): Promise<boolean> {
    try {
      await accounts.insertOne(accountDocument(account))
      return true
    } catch (error) {
      if (isDuplicateKey(error)) return false
      throw error
    }
  }

  return {
    /**
     * The account goes first, so that there is never an operator without one. Of operators that
     * are added at once the unique index on `first` lets one in; the others take their account
     * away again, unless it is the winner's.
     */
    async createFirstOperator({ account, operator }) {
      if ((await operators.findOne({}, { projection: { _id: 1 } })) !== null) return false
      const added = await addFirstAccount(account)
      try {
        await operators.insertOne({ ...operatorDocument(operator), first: true })
        return true
      } catch (error) {
        if (!isDuplicateKey(error)) throw error
        // Read where it was refused: a majority may not have the winner yet.
        const inUse = await operators.findOne(
          { accountId: account.id },
          { readConcern: { level: 'local' } },
        )
        if (added && inUse === null) await accounts.deleteOne({ _id: account.id })
        return false
      }
    },

    async findOperatorByEmail(email) {
      const document = await operators.findOne({ emailLowerCase: email.toLowerCase() })
      return document === null ? undefined : operatorOf(document)
    },

    async createAccount(account) {
      await accounts.insertOne(accountDocument(account))
    },

    async findAccount(accountId) {
      const document = await accounts.findOne({ _id: accountId })
      return document === null ? undefined : accountOf(document)
    },

    async suspendAccount({ accountId, suspended }) {
      const document = await accounts.findOneAndUpdate(
        { _id: accountId },
        { $set: { suspended } },
        { returnDocument: 'after' },
      )
      return document === null ? undefined : accountOf(document)
    },

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

function accountDocument({ id, createdAt, ...fields }: Account): AccountDocument {
  return { ...fields, _id: id, createdAt: new Date(createdAt) }
}

function accountOf({ _id, createdAt, ...fields }: AccountDocument): Account {
  return { ...fields, id: _id, createdAt: createdAt.getTime() }
}

function operatorDocument({ id, createdAt, ...fields }: Operator): OperatorDocument {
  return {
    ...fields,
    _id: id,
    emailLowerCase: fields.email.toLowerCase(),
    createdAt: new Date(createdAt),
  }
}

function operatorOf({
  _id,
  createdAt,
  emailLowerCase: _emailLowerCase,
  first: _first,
  ...fields
}: OperatorDocument): Operator {
  return { ...fields, id: _id, createdAt: createdAt.getTime() }
}

function sessionOf({ _id, createdAt, lastSeenAt, operatorId }: SessionDocument): Session {
  return {
    tokenHash: _id,
    operatorId,
    createdAt: createdAt.getTime(),
    lastSeenAt: lastSeenAt.getTime(),
  }
}
