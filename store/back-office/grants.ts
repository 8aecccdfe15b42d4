import type { Keys } from '../back-office.ts'
import type { DocumentStore } from '../documents.ts'
import { apiKeyOf } from './keys.ts'
import { hashText, type AccountDocument, type KeyDocument } from './kinds.ts'

const NONE: ReadonlySet<string> = new Set()

/** `disabledDevices`: the ids of an account's disabled devices. */
export function grantsOf({
  keys,
  accounts,
  disabledDevices,
}: {
  keys: DocumentStore<KeyDocument>
  accounts: DocumentStore<AccountDocument>
  disabledDevices: (accountId: string) => Promise<readonly string[]>
}): Pick<Keys, 'findGrant'> {
  const setFor = sharedSets()

  async function byHash(secretHash: Uint8Array) {
    const hash = hashText(secretHash)
    const [current] = await keys.find({ index: 'secret', where: { secret: hash }, limit: 1 })
    if (current !== undefined) return { key: current, secretValidUntil: undefined }
    // After the first query: otherwise a concurrent rotation could hide the secret from both.
    const query = { index: 'previous', where: { previousSecret: hash }, limit: 1 } as const
    const [previous] = await keys.find(query)
    return { key: previous, secretValidUntil: previous?.previousValidUntil }
  }

  return {
    async findGrant(secretHash) {
      const { key, secretValidUntil } = await byHash(secretHash)
      if (key === undefined) return undefined
      const { accountId } = key
      const [account, disabled] = await Promise.all([
        accounts.get(accountId),
        disabledDevices(accountId),
      ])
      if (account === undefined) return undefined
      return {
        key: apiKeyOf(key),
        ...(secretValidUntil !== undefined && { secretValidUntil }),
        accountSuspended: account.suspended,
        disabledDevices: setFor(accountId, disabled),
      }
    },
  }
}

/**
 * Shares one set between all keys of an account while its content is unchanged: a cache of many
 * grants would otherwise hold as many copies.
 */
function sharedSets(): (accountId: string, ids: readonly string[]) => ReadonlySet<string> {
  const sets = new Map<string, WeakRef<ReadonlySet<string>>>()
  return (accountId, ids) => {
    if (ids.length === 0) {
      sets.delete(accountId)
      return NONE
    }
    const known = sets.get(accountId)?.deref()
    if (known?.size === ids.length && ids.every((id) => known.has(id))) return known
    const next = new Set(ids)
    sets.set(accountId, new WeakRef(next))
    return next
  }
}
