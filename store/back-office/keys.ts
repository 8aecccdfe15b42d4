import type { ApiKey, Keys } from '../keys.ts'
import type { DocumentStore, Revisioned } from '../documents.ts'
import { changeDocument } from './changing.ts'
import { hashText, type KeyDocument, type AccountDocument } from './kinds.ts'

export function keysOf(keys: DocumentStore<KeyDocument>): Omit<Keys, 'findGrant'> {
  /** Changes a key of this account. */
  async function change(
    { accountId, keyId }: { readonly accountId: string; readonly keyId: string },
    next: (key: Revisioned<KeyDocument>) => Revisioned<KeyDocument>,
  ): Promise<ApiKey | undefined> {
    const key = await changeDocument(keys, keyId, (before) =>
      before.accountId === accountId ? next(before) : undefined,
    )
    return key && apiKeyOf(key)
  }

  return {
    async createKey({ previousValidUntil: _rotated, ...key }, secretHash) {
      await keys.insert([{ ...key, secret: hashText(secretHash) }])
    },

    async pageKeys({ accountId, after, ...bounds }) {
      const query = { index: 'oldest', where: { accountId }, order: 'desc', ...bounds } as const
      return (await keys.find({ ...query, ...(after && { after }) })).map(apiKeyOf)
    },

    async findKey({ accountId, keyId }) {
      const key = await keys.get(keyId)
      return key?.accountId === accountId ? apiKeyOf(key) : undefined
    },

    revokeKey: ({ revokedAt, ...query }) =>
      change(query, (key) => ({ ...key, revokedAt: key.revokedAt ?? revokedAt })),

    changeKey: ({ accountId, keyId, name, ...limits }) =>
      change({ accountId, keyId }, (key) => {
        const next: Record<string, unknown> = { ...key, name: name ?? key.name }
        for (const [field, value] of Object.entries(limits)) {
          if (value === null) delete next[field]
          else if (value !== undefined) next[field] = value
        }
        return next as Revisioned<KeyDocument>
      }),

    async rotateKey({ secretHash, hint, previousValidUntil, ...query }) {
      const secret = hashText(secretHash)
      const key = await change(query, (before) =>
        before.revokedAt === undefined
          ? { ...before, secret, hint, previousSecret: before.secret, previousValidUntil }
          : before,
      )
      return key?.revokedAt === undefined ? key : 'revoked'
    },

    touchKeys: (usedAt) => keys.raise('lastUsedAt', usedAt),

    async countRefusals(refusals) {
      for (const [keyId, { count, lastAt }] of refusals) {
        await changeDocument(keys, keyId, (key) => ({
          ...key,
          refusedRequests: (key.refusedRequests ?? 0) + count,
          lastRefusedAt: Math.max(key.lastRefusedAt ?? -Infinity, lastAt),
        }))
      }
    },
  }
}

function apiKeyOf({
  secret: _secret,
  previousSecret: _previousSecret,
  revision: _revision,
  ...key
}: KeyDocument & { readonly revision?: number }): ApiKey {
  return key
}

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

  async function findByHash(secretHash: Uint8Array) {
    const hash = hashText(secretHash)
    const [current] = await keys.find({ index: 'secret', where: { secret: hash }, limit: 1 })
    if (current !== undefined) return { key: current, secretValidUntil: undefined }
    // After the first query: otherwise a concurrent rotation could hide the secret from both
    // queries.
    const query = { index: 'previous', where: { previousSecret: hash }, limit: 1 } as const
    const [previous] = await keys.find(query)
    return { key: previous, secretValidUntil: previous?.previousValidUntil }
  }

  return {
    async findGrant(secretHash) {
      const { key, secretValidUntil } = await findByHash(secretHash)
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
