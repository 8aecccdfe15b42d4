import type { Account, Operator, Operators } from '../operators.ts'
import type { DocumentStore } from '../documents.ts'
import { changeDocument } from './changing.ts'
import type { AccountDocument } from './kinds.ts'

type Accounts = Pick<Operators, 'createAccount' | 'findAccount' | 'pageAccounts' | 'suspendAccount'>

export function accountsOf({
  accounts,
  isEmailTaken,
  addOperator,
}: {
  accounts: DocumentStore<AccountDocument>
  isEmailTaken: (email: string) => Promise<boolean>
  /** False if the admin's e-mail is taken. */
  addOperator: (operator: Operator) => Promise<boolean>
}): Accounts {
  return {
    /**
     * The account is written first, and already lists its admin. A crash in between leaves an account
     * without operators, which is harmless, and the admin's e-mail stays free. Otherwise the e-mail
     * could be taken forever by an operator who cannot sign in, or is not an admin.
     */
    async createAccount(account, admin) {
      if (admin !== undefined && (await isEmailTaken(admin.email))) return false
      const admins = admin?.role === 'admin' ? [admin.id] : []
      const [added] = await accounts.insert([{ ...account, admins }])
      if (added === undefined) return false
      if (admin === undefined || (await addOperator(admin))) return true
      await accounts.remove({ id: account.id })
      return false
    },

    async findAccount(accountId) {
      const account = await accounts.get(accountId)
      return account && accountOf(account)
    },

    async pageAccounts({ limit, after }) {
      const query = { index: 'oldest', limit, ...(after && { after }) } as const
      return (await accounts.find(query)).map(accountOf)
    },

    /**
     * Reinstating an account ends earlier sessions, which may not have been checked during the
     * suspension.
     */
    async suspendAccount({ accountId, suspended, resumedAt }) {
      const account = await changeDocument(accounts, accountId, (before) => ({
        ...before,
        suspended,
        ...(before.suspended &&
          !suspended && {
            resumed: (before.resumed ?? 0) + 1,
            ...(resumedAt !== undefined && { resumedAt }),
          }),
      }))
      return account && accountOf(account)
    },
  }
}

export function accountOf(document: AccountDocument): Account {
  const { id, name, suspended, resumedAt, createdAt } = document
  return { id, name, suspended, ...(resumedAt !== undefined && { resumedAt }), createdAt }
}
