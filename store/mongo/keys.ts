import type { ApiKey, Keys } from '../store.ts'
import type { ApiKeyDocument, Collections } from './collections.ts'

export function mongoKeys({
  collections: { keys, accounts, deviceSettings },
  clock,
}: {
  collections: Collections
  clock: { now(): number }
}): Keys {
  async function findKey({ accountId, keyId }: { accountId: string; keyId: string }) {
    const document = await keys.findOne({ _id: keyId, accountId })
    return document === null ? undefined : apiKey(document)
  }

  return {
    async createKey(key, secretHash) {
      await keys.insertOne(keyDocument(key, secretHash))
    },

    async pageKeys({ accountId, limit, after }) {
      const last = after === undefined ? undefined : await keys.findOne({ _id: after, accountId })
      if (last === null) return []
      const older = last && [
        { createdAt: { $lt: last.createdAt } },
        { createdAt: last.createdAt, _id: { $lt: last._id } },
      ]
      const page = await keys
        .find({ accountId, ...(older !== undefined && { $or: older }) })
        .sort({ createdAt: -1, _id: -1 })
        .limit(limit)
        .toArray()
      return page.map(apiKey)
    },

    findKey,

    async revokeKey({ accountId, keyId, revokedAt }) {
      await keys.updateOne(
        { _id: keyId, accountId, revokedAt: { $exists: false } },
        { $set: { revokedAt: new Date(revokedAt) } },
      )
      return findKey({ accountId, keyId })
    },

    async findGrant(secretHash) {
      const document = await keys.findOne({ 'secrets.hash': secretHash })
      if (document === null) return undefined
      // The secret that a rotation replaced opens nothing once its grace time is over.
      const secret = document.secrets.find(({ hash }) => Buffer.compare(hash, secretHash) === 0)
      if (secret?.validUntil !== undefined && secret.validUntil.getTime() <= clock.now()) {
        return undefined
      }
      const { accountId } = document
      const [account, disabled] = await Promise.all([
        accounts.findOne({ _id: accountId }),
        deviceSettings
          .find({ accountId, disabled: true })
          .project<{ deviceId: string }>({ _id: 0, deviceId: 1 })
          .toArray(),
      ])
      if (account === null) return undefined
      return {
        key: apiKey(document),
        accountSuspended: account.suspended,
        disabledDevices: new Set(disabled.map(({ deviceId }) => deviceId)),
      }
    },

    async touchKeys(usedAt) {
      if (usedAt.size === 0) return
      await keys.bulkWrite(
        Array.from(usedAt, ([keyId, time]) => ({
          updateOne: { filter: { _id: keyId }, update: { $max: { lastUsedAt: new Date(time) } } },
        })),
        { ordered: false },
      )
    },
  }
}

function keyDocument(key: ApiKey, hash: Uint8Array): ApiKeyDocument {
  const { id, createdAt, expiresAt, revokedAt, lastUsedAt, ...fields } = key
  return {
    ...fields,
    _id: id,
    createdAt: new Date(createdAt),
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt) }),
    ...(revokedAt !== undefined && { revokedAt: new Date(revokedAt) }),
    ...(lastUsedAt !== undefined && { lastUsedAt: new Date(lastUsedAt) }),
    secrets: [{ hash }],
  }
}

function apiKey({
  _id,
  createdAt,
  expiresAt,
  revokedAt,
  lastUsedAt,
  secrets: _secrets,
  ...fields
}: ApiKeyDocument): ApiKey {
  return {
    ...fields,
    id: _id,
    createdAt: createdAt.getTime(),
    ...(expiresAt !== undefined && { expiresAt: expiresAt.getTime() }),
    ...(revokedAt !== undefined && { revokedAt: revokedAt.getTime() }),
    ...(lastUsedAt !== undefined && { lastUsedAt: lastUsedAt.getTime() }),
  }
}
