import type { ApiKey, Keys } from '../back-office.ts'
import type { DocumentStore, Revisioned } from '../documents.ts'
import { changed } from './changing.ts'
import { hashText, type KeyDocument } from './kinds.ts'

export function keysOf(keys: DocumentStore<KeyDocument>): Omit<Keys, 'findGrant'> {
  /** Changes a key of this account. */
  async function change(
    { accountId, keyId }: { readonly accountId: string; readonly keyId: string },
    next: (key: Revisioned<KeyDocument>) => Revisioned<KeyDocument>,
  ): Promise<ApiKey | undefined> {
    const key = await changed(keys, keyId, (before) =>
      before.accountId === accountId ? next(before) : undefined,
    )
    return key && apiKeyOf(key)
  }

  return {
    async createKey({ previousValidUntil: _rotated, ...key }, secretHash) {
      await keys.insert([{ ...key, secret: hashText(secretHash) }])
    },

    async pageKeys({ accountId, limit, after }) {
      const query = { index: 'oldest', where: { accountId }, order: 'desc', limit } as const
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
  }
}

export function apiKeyOf({
  secret: _secret,
  previousSecret: _previousSecret,
  revision: _revision,
  ...key
}: KeyDocument & { readonly revision?: number }): ApiKey {
  return key
}
