import { expect } from '@jest/globals'
import { newApiKey, secretHash } from '../../schemas/access/api-key.ts'
import type { ApiKey } from '../../store/keys.ts'
import { T0 } from '../samples.ts'
import type { StoreSuite } from './store-suite.ts'
import { account, apiKey } from './store-samples.ts'

export function keyRotationContract({ promise, shared }: StoreSuite): void {
  promise(
    'a new secret does not expire, the previous one is valid until the given time',
    async () => {
      const { key, hash } = await create()
      const next = newHash()
      const rotated = { ...key, hint: 'gps_next…zzzz', previousValidUntil: T0 + 100 }
      expect(await rotate(key, next, T0 + 100, 'gps_next…zzzz')).toEqual(rotated)
      expect(await shared.store.findKey({ accountId: key.accountId, keyId: key.id })).toEqual(
        rotated,
      )
      expect(await shared.store.pageKeys({ accountId: key.accountId, limit: 9 })).toEqual([rotated])
      for (const reopened of [false, true]) {
        if (reopened) await shared.reopen()
        const grants = [await shared.store.findGrant(next), await shared.store.findGrant(hash)]
        const rest = { accountSuspended: false, disabledDevices: new Set() }
        expect(grants).toEqual([
          { key: rotated, ...rest },
          { key: rotated, secretValidUntil: T0 + 100, ...rest },
        ])
      }
    },
  )

  promise('a new secret immediately invalidates the secret before the previous one', async () => {
    const { key, hash } = await create()
    const [second, third] = [newHash(), newHash()]
    await rotate(key, second, T0 + 1_000_000)
    await rotate(key, third, T0 + 50)
    expect(await shared.store.findGrant(hash)).toBeUndefined()
    expect((await shared.store.findGrant(second))?.secretValidUntil).toBe(T0 + 50)
    const grant = await shared.store.findGrant(third)
    expect(grant?.secretValidUntil).toBeUndefined()
    expect(grant?.key.previousValidUntil).toBe(T0 + 50)
  })

  promise(
    'the previous secret may expire immediately: its end is stored, and the caller compares it',
    async () => {
      const { key, hash } = await create()
      await rotate(key, newHash(), 0)
      const grant = await shared.store.findGrant(hash)
      expect(grant).toMatchObject({ secretValidUntil: 0, key: { previousValidUntil: 0 } })
    },
  )

  promise('a revoked key gets no new secret, and does not change', async () => {
    const { key, hash } = await create()
    const { accountId, id: keyId } = key
    const revoked = await shared.store.revokeKey({ accountId, keyId, revokedAt: T0 + 5 })
    const next = newHash()
    expect(await rotate(key, next, T0 + 100)).toBe('revoked')
    expect(await shared.store.findGrant(next)).toBeUndefined()
    expect(await shared.store.findGrant(hash)).toMatchObject({ key: revoked })
    expect(await shared.store.findKey({ accountId, keyId })).toEqual(revoked)
  })

  promise(
    'a new secret changes nothing else of the key, and a revocation ends both secrets',
    async () => {
      const { key, hash } = await create({ expiresAt: T0 + 9, deviceIds: ['a*'], rateLimit: 3 })
      const next = newHash()
      const rotated = await rotate(key, next, T0 + 100)
      expect(rotated).toEqual({ ...key, hint: 'gps_abcd…0000', previousValidUntil: T0 + 100 })
      const { accountId, id: keyId } = key
      await shared.store.revokeKey({ accountId, keyId, revokedAt: T0 + 5 })
      for (const secret of [hash, next]) {
        expect((await shared.store.findGrant(secret))?.key.revokedAt).toBe(T0 + 5)
      }
    },
  )

  promise('only its own account can give a key a new secret', async () => {
    const { key, hash } = await create()
    const other = await create()
    const next = newHash()
    const theirs = { ...key, accountId: other.key.accountId }
    expect(await rotate(theirs, next, T0)).toBeUndefined()
    expect(await rotate({ ...key, id: 'none' }, next, T0)).toBeUndefined()
    expect(await shared.store.findGrant(next)).toBeUndefined()
    expect((await shared.store.findGrant(hash))?.key).toEqual(key)
  })

  promise(
    'of concurrent new secrets, the last does not expire, the previous one is valid until the given time, the others are invalid',
    async () => {
      const { key, hash } = await create()
      const secrets = Array.from({ length: 5 }, newHash)
      const answers = await Promise.all(secrets.map((secret) => rotate(key, secret, T0 + 100)))
      expect(answers.every((answer) => typeof answer === 'object')).toBe(true)
      const grants = await Promise.all(
        [hash, ...secrets].map((secret) => shared.store.findGrant(secret)),
      )
      const found = grants.filter((grant) => grant !== undefined)
      expect(found.map(({ secretValidUntil }) => secretValidUntil ?? 'no end').sort()).toEqual([
        T0 + 100,
        'no end',
      ])
      expect(grants[0]).toBeUndefined()
    },
  )

  function rotate(key: ApiKey, secret: Buffer, previousValidUntil: number, hint = 'gps_abcd…0000') {
    const { accountId, id: keyId } = key
    return shared.store.rotateKey({
      accountId,
      keyId,
      secretHash: secret,
      hint,
      previousValidUntil,
    })
  }

  async function create(fields: Partial<ApiKey> = {}): Promise<{ key: ApiKey; hash: Buffer }> {
    const made = account()
    await shared.store.createAccount(made)
    const key = apiKey({ accountId: made.id, ...fields })
    const hash = newHash()
    await shared.store.createKey(key, hash)
    return { key, hash }
  }
}

function newHash(): Buffer {
  return secretHash(newApiKey())
}
