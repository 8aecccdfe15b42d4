import { DependencyError } from '../../runtime/errors.ts'
import type { OperatorKept, Operators } from '../back-office.ts'
import { namedValues } from './changes.ts'
import type { Collections, OperatorDocument } from './collections.ts'
import { underLock, type Clock } from './lock.ts'
import { insertOperator, operatorOf } from './operator-documents.ts'

/** Longer than the few calls under it may take altogether, however slow the server is. */
const LEASE_MS = 60_000
/** Shorter than callers wait: a change that they were told has failed is not to be made later. */
const TURN_WITHIN_MS = 4_000

type OwnOperators = Pick<
  Operators,
  | 'createOperator'
  | 'findOperator'
  | 'findOperatorByEmail'
  | 'pageOperators'
  | 'changeOperator'
  | 'deleteOperator'
>

export function mongoOperators({
  collections: { meta, operators, sessions },
  clock,
}: {
  collections: Collections
  clock: Clock
}): OwnOperators {
  /** Who is an admin is looked at and changed by one at a time in the whole service. */
  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const signal = AbortSignal.timeout(TURN_WITHIN_MS)
    const lock = { name: 'operators-lock', leaseMs: LEASE_MS, clock, signal } as const
    let isTurn = false
    try {
      return await underLock(meta, lock, () => {
        isTurn = true
        return work()
      })
    } catch (error) {
      if (isTurn || !signal.aborted) throw error
      throw new DependencyError('operators keep being changed by others', {
        retriable: true,
        cause: error,
      })
    }
  }

  /** Why it cannot be without this operator as an admin or a platform operator. */
  async function neededAs(
    { _id, accountId, role, platform }: OperatorDocument,
    next: { readonly isAdmin: boolean; readonly isPlatform: boolean },
  ): Promise<OperatorKept | undefined> {
    const other = { _id: { $ne: _id } }
    if (role === 'admin' && !next.isAdmin) {
      if ((await operators.findOne({ ...other, accountId, role })) === null) return 'last admin'
    }
    if (platform && !next.isPlatform) {
      if ((await operators.findOne({ ...other, platform })) === null)
        return 'last platform operator'
    }
    return undefined
  }

  return {
    createOperator: (operator) => insertOperator(operators, operator),

    async findOperator({ accountId, operatorId }) {
      const document = await operators.findOne({ _id: operatorId, accountId })
      return document === null ? undefined : operatorOf(document)
    },

    async findOperatorByEmail(email) {
      const document = await operators.findOne({ emailLowerCase: email.toLowerCase() })
      return document === null ? undefined : operatorOf(document)
    },

    async pageOperators({ accountId, limit, after }) {
      const last =
        after === undefined ? undefined : await operators.findOne({ _id: after, accountId })
      if (last === null) return []
      const younger = last && [
        { createdAt: { $gt: last.createdAt } },
        { createdAt: last.createdAt, _id: { $gt: last._id } },
      ]
      const page = await operators
        .find({ accountId, ...(younger !== undefined && { $or: younger }) })
        .sort({ createdAt: 1, _id: 1 })
        .limit(limit)
        .toArray()
      return page.map(operatorOf)
    },

    async changeOperator({ accountId, operatorId, role, platform, passwordHash }) {
      const found = { _id: operatorId, accountId }
      const { $set } = namedValues({ role, platform, passwordHash })
      const change = async () => {
        const document = await operators.findOneAndUpdate(
          found,
          // Sets what is set already: an update must not be empty.
          { $set: { ...$set, accountId } },
          { returnDocument: 'after' },
        )
        return document === null ? undefined : operatorOf(document)
      }
      if (role !== 'viewer' && platform !== false) return change()
      return inTurn(async () => {
        const document = await operators.findOne(found)
        if (document === null) return undefined
        const isAdmin = (role ?? document.role) === 'admin'
        const isPlatform = platform ?? document.platform
        return (await neededAs(document, { isAdmin, isPlatform })) ?? change()
      })
    },

    async deleteOperator({ accountId, operatorId }) {
      return inTurn(async () => {
        const document = await operators.findOne({ _id: operatorId, accountId })
        if (document === null) return undefined
        const kept = await neededAs(document, { isAdmin: false, isPlatform: false })
        if (kept !== undefined) return kept
        await operators.deleteOne({ _id: operatorId, accountId })
        // Without its operator a session is found no more; this only takes away what is left.
        await sessions.deleteMany({ operatorId })
        return 'deleted'
      })
    },
  }
}
