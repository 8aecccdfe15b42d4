import type { Account, Operators } from '../back-office.ts'
import type { AccountDocument, Collections } from './collections.ts'
import { isDuplicateKey } from './driver-errors.ts'
import { insertOperator, operatorDocument } from './operator-documents.ts'

type Accounts = Pick<
  Operators,
  'createFirstOperator' | 'createAccount' | 'findAccount' | 'pageAccounts' | 'suspendAccount'
>

export function mongoAccounts({
  collections: { accounts, operators },
}: {
  collections: Collections
}): Accounts {
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

    /**
     * The account goes first here too. What a crash in between leaves is an account without
     * operators, in which nobody can do anything and whose admin's e-mail is still free; the other
     * way round, the e-mail would be taken for good by an operator who cannot sign in.
     */
    async createAccount(account, admin) {
      if (admin !== undefined) {
        const { emailLowerCase } = operatorDocument(admin)
        if ((await operators.findOne({ emailLowerCase })) !== null) return false
      }
      await accounts.insertOne(accountDocument(account))
      if (admin === undefined || (await insertOperator(operators, admin))) return true
      await accounts.deleteOne({ _id: account.id })
      return false
    },

    async findAccount(accountId) {
      const document = await accounts.findOne({ _id: accountId })
      return document === null ? undefined : accountOf(document)
    },

    async pageAccounts({ limit, after }) {
      const last = after === undefined ? undefined : await accounts.findOne({ _id: after })
      if (last === null) return []
      const page = await accounts
        .find(
          last === undefined
            ? {}
            : {
                $or: [
                  { createdAt: { $gt: last.createdAt } },
                  { createdAt: last.createdAt, _id: { $gt: last._id } },
                ],
              },
        )
        .sort({ createdAt: 1, _id: 1 })
        .limit(limit)
        .toArray()
      return page.map(accountOf)
    },

    async suspendAccount({ accountId, suspended }) {
      const document = await accounts.findOneAndUpdate(
        { _id: accountId },
        { $set: { suspended } },
        { returnDocument: 'after' },
      )
      return document === null ? undefined : accountOf(document)
    },
  }
}

function accountDocument({ id, createdAt, ...fields }: Account): AccountDocument {
  return { ...fields, _id: id, createdAt: new Date(createdAt) }
}

export function accountOf({ _id, createdAt, ...fields }: AccountDocument): Account {
  return { ...fields, id: _id, createdAt: createdAt.getTime() }
}
