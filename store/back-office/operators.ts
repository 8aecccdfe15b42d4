import { DependencyError } from '../../runtime/errors.ts'
import type { Operator, Operators } from '../operators.ts'
import type { DocumentStore } from '../documents.ts'
import { changeDocument, repeatUntilDone } from './changing.ts'
import type { AccountDocument, OperatorDocument, SessionDocument } from './kinds.ts'
import { findDocumentByEmail, documentOf, operatorOf } from './operator-documents.ts'
import type { rightsOf } from './rights.ts'
import { endSessions } from './sessions.ts'

type OwnOperators = Pick<
  Operators,
  | 'createFirstOperator'
  | 'createOperator'
  | 'findOperator'
  | 'findOperatorByEmail'
  | 'pageOperators'
  | 'changeOperator'
  | 'deleteOperator'
>

type Sources = {
  readonly accounts: DocumentStore<AccountDocument>
  readonly operators: DocumentStore<OperatorDocument>
  readonly sessions: DocumentStore<SessionDocument>
  readonly rights: ReturnType<typeof rightsOf>
}

export function operatorsOf({ accounts, operators, sessions, rights }: Sources): OwnOperators {
  async function find(accountId: string, operatorId: string) {
    const operator = await operators.get(operatorId)
    return operator?.accountId === accountId ? operator : undefined
  }

  return {
    /**
     * The unique index on `first` admits one of several concurrent operators. The account and the
     * rights follow; if a process dies in between, the next caller finishes its work.
     */
    async createFirstOperator({ account, operator }) {
      const [first] = await operators.find({ index: 'first', limit: 1 })
      if (first === undefined) {
        if ((await operators.find({ index: 'oldest', limit: 1 })).length > 0) return false
        const [added] = await operators.insert([{ ...documentOf(operator), first: 1 }])
        if (added === undefined) return false
      }
      const { id, accountId } = first ?? operator
      await accounts.insert([{ ...account, id: accountId, admins: [] }])
      const made = await accounts.get(accountId)
      if (made?.admins.length === 0) {
        await rights.give({ id, accountId }, operator)
      }
      return first === undefined
    },

    createOperator: (operator) => addOperator({ accounts, operators, rights }, operator),

    async findOperator({ accountId, operatorId }) {
      const operator = await find(accountId, operatorId)
      return operator && operatorOf(operator, await rights.of(accountId))
    },

    async findOperatorByEmail(email) {
      const operator = await findDocumentByEmail(operators, email)
      return operator && operatorOf(operator, await rights.of(operator.accountId))
    },

    async pageOperators({ accountId, limit, after }) {
      const query = { index: 'oldest', where: { accountId }, limit } as const
      const [page, has] = await Promise.all([
        operators.find({ ...query, ...(after && { after }) }),
        rights.of(accountId),
      ])
      return page.map((operator) => operatorOf(operator, has))
    },

    async changeOperator({ accountId, operatorId, role, platform, passwordHash }) {
      const before = await find(accountId, operatorId)
      if (before === undefined) return undefined
      const lost = { admin: role !== undefined && role !== 'admin', platform: platform === false }
      const kept = await rights.take(before, lost)
      if (kept !== undefined) return kept
      const after = await changeDocument(operators, operatorId, (operator) => {
        const { dispatcher, mustChangePassword, ...rest } = operator
        return {
          ...rest,
          passwordHash: passwordHash ?? operator.passwordHash,
          ...((role ?? (dispatcher && 'dispatcher')) === 'dispatcher' && {
            dispatcher: true as const,
          }),
          ...(passwordHash === undefined && mustChangePassword && { mustChangePassword }),
        }
      })
      if (after === undefined) return undefined
      await rights.give(after, { ...(role && { role }), ...(platform && { platform }) })
      return operatorOf(after, await rights.of(accountId))
    },

    async deleteOperator({ accountId, operatorId }) {
      return repeatUntilDone(async () => {
        const operator = await find(accountId, operatorId)
        if (operator === undefined) return { outcome: undefined }
        const kept = await rights.take(operator, { admin: true, platform: true })
        if (kept !== undefined) return { outcome: kept }
        // Another change may rely on this operator by now: check the lists again.
        if (!(await operators.remove(operator))) return undefined
        // Without their operator the sessions are already invalid; this only cleans up.
        await endSessions(sessions, operatorId)
        return { outcome: 'deleted' as const }
      }).then(({ outcome }) => outcome)
    },
  }
}

/** False if the e-mail is taken. Rights come last: a crash in between leaves no admin. */
export async function addOperator(
  { accounts, operators, rights }: Omit<Sources, 'sessions'>,
  operator: Operator,
): Promise<boolean> {
  const { accountId, role, platform } = operator
  if ((await accounts.get(accountId)) === undefined) {
    throw new DependencyError(`there is no account ${accountId}`, { retriable: false })
  }
  const [added] = await operators.insert([documentOf(operator)])
  if (added === undefined) return false
  await rights.give(operator, { role, platform })
  return true
}
