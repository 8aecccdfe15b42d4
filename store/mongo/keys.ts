import { setTimeout as pause } from 'node:timers/promises'
import { DependencyError } from '../../runtime/errors.ts'
import type { ApiKey, Keys } from '../back-office.ts'
import { namedValues } from './changes.ts'
import type { ApiKeyDocument, Collections } from './collections.ts'

const MOST_ATTEMPTS = 20
const LONGEST_PAUSE_MS = 50

export function mongoKeys({
  collections: { keys, accounts, deviceSettings },
}: {
  collections: Collections
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

    async changeKey({ accountId, keyId, name, expiresAt, deviceIds, rateLimit }) {
      const values = {
        name,
        expiresAt: typeof expiresAt === 'number' ? new Date(expiresAt) : expiresAt,
        deviceIds,
        rateLimit,
      }
      const change = namedValues(values)
      const document = await keys.findOneAndUpdate(
        { _id: keyId, accountId },
        // Sets what is set already: an update must not be empty.
        { $set: { ...change.$set, accountId }, $unset: change.$unset },
        { returnDocument: 'after' },
      )
      return document === null ? undefined : apiKey(document)
    },

    /** By compare-and-set on the secret until now, so that of rotations at once none is lost. */
    async rotateKey({ accountId, keyId, secretHash, hint, previousValidUntil }) {
      for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) {
        const document = await keys.findOne({ _id: keyId, accountId })
        if (document === null) return undefined
        if (document.revokedAt !== undefined) return 'revoked'
        const [current] = document.secrets
        if (current === undefined) return undefined
        const previous = { hash: current.hash, validUntil: new Date(previousValidUntil) }
        const rotated = await keys.findOneAndUpdate(
          {
            _id: keyId,
            accountId,
            revokedAt: { $exists: false },
            'secrets.0.hash': current.hash,
          },
          { $set: { secrets: [{ hash: secretHash }, previous], hint } },
          { returnDocument: 'after' },
        )
        if (rotated !== null) return apiKey(rotated)
        // Time for a majority to have what the other one wrote: until then it cannot be read.
        await pause(Math.random() * LONGEST_PAUSE_MS)
      }
      throw new DependencyError('the key keeps being rotated by others', { retriable: true })
    },

    async findGrant(secretHash) {
      const document = await keys.findOne({ 'secrets.hash': secretHash })
      if (document === null) return undefined
      const secret = document.secrets.find(({ hash }) => Buffer.compare(hash, secretHash) === 0)
      const validUntil = secret?.validUntil
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
        ...(validUntil !== undefined && { secretValidUntil: validUntil.getTime() }),
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

function keyDocument(
  {
    id,
    createdAt,
    expiresAt,
    revokedAt,
    lastUsedAt,
    previousValidUntil: _previousValidUntil,
    ...fields
  }: ApiKey,
  hash: Uint8Array,
): ApiKeyDocument {
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
  secrets,
  ...fields
}: ApiKeyDocument): ApiKey {
  const previousValidUntil = secrets[1]?.validUntil
  return {
    ...fields,
    id: _id,
    createdAt: createdAt.getTime(),
    ...(expiresAt !== undefined && { expiresAt: expiresAt.getTime() }),
    ...(revokedAt !== undefined && { revokedAt: revokedAt.getTime() }),
    ...(lastUsedAt !== undefined && { lastUsedAt: lastUsedAt.getTime() }),
    ...(previousValidUntil !== undefined && { previousValidUntil: previousValidUntil.getTime() }),
  }
}
