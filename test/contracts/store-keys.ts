import { expect } from '@jest/globals'
import { newApiKey, secretHash } from '../../schemas/access/api-key.ts'
import { SCOPES, type ApiKey } from '../../store/keys.ts'
import { T0 } from '../samples.ts'
import type { StoreSuite } from './store-suite.ts'
import { account, apiKey } from './store-samples.ts'

export function keysContract({ promise, shared }: StoreSuite): void {
  promise('a key is found by its secret, exactly as it was created', async () => {
    const { accountId } = await newAccount()
    const plain = await create({ accountId })
    const full = await create({
      accountId,
      scopes: SCOPES,
      expiresAt: T0 + 1,
      deviceIds: ['tracker-1', "o'brien*"],
      rateLimit: 120,
    })
    for (const { key, hash } of [plain, full]) {
      expect(await shared.store.findGrant(hash)).toEqual({
        key,
        accountSuspended: false,
        disabledDevices: new Set(),
      })
      expect(await shared.store.findKey({ accountId, keyId: key.id })).toEqual(key)
    }
    await shared.reopen()
    expect((await shared.store.findGrant(full.hash))?.key).toEqual(full.key)
  })

  promise('an unknown secret has no grant', async () => {
    expect(await shared.store.findGrant(secretHash(newApiKey()))).toBeUndefined()
    expect(await shared.store.findGrant(new Uint8Array(0))).toBeUndefined()
  })

  promise(
    'all keys of an account share one set of disabled devices, until it changes',
    async () => {
      const { accountId } = await newAccount()
      const [one, two] = [await create({ accountId }), await create({ accountId })]
      const disable = (deviceId: string) =>
        shared.store.changeDeviceSettings({ accountId, deviceId, disabled: true, changedAt: T0 })
      const devices = async (hash: Buffer) => (await shared.store.findGrant(hash))?.disabledDevices
      await disable('lost')
      const first = await devices(one.hash)
      expect(await devices(two.hash)).toBe(first)
      await disable('stolen')
      expect(await devices(two.hash)).toEqual(new Set(['lost', 'stolen']))
      expect(await devices(one.hash)).toBe(await devices(two.hash))
      expect(first).toEqual(new Set(['lost']))
    },
  )

  promise('expired and revoked keys are found, too', async () => {
    const { accountId } = await newAccount()
    const { key, hash } = await create({ accountId, expiresAt: T0 - 1 })
    await shared.store.revokeKey({ accountId, keyId: key.id, revokedAt: T0 + 5 })
    const grant = await shared.store.findGrant(hash)
    expect(grant?.key).toEqual({ ...key, revokedAt: T0 + 5 })
  })

  promise('revoking again returns the key unchanged and keeps the first time', async () => {
    const { accountId } = await newAccount()
    const { key } = await create({ accountId })
    const revoked = { ...key, revokedAt: T0 + 5 }
    const revoke = (revokedAt: number, of = accountId) =>
      shared.store.revokeKey({ accountId: of, keyId: key.id, revokedAt })
    expect(await revoke(T0 + 1, (await newAccount()).accountId)).toBeUndefined()
    expect(await revoke(T0 + 5)).toEqual(revoked)
    expect(await revoke(T0 + 9)).toEqual(revoked)
    expect(await revoke(T0)).toEqual(revoked)
    expect(
      await shared.store.revokeKey({ accountId, keyId: 'none', revokedAt: T0 }),
    ).toBeUndefined()
  })

  promise('the time of last use moves forward and never back', async () => {
    const { accountId } = await newAccount()
    const [one, two] = [await create({ accountId }), await create({ accountId })]
    const used = async () => {
      const keys = [one.key.id, two.key.id].map((keyId) =>
        shared.store.findKey({ accountId, keyId }),
      )
      return (await Promise.all(keys)).map((key) => key?.lastUsedAt)
    }
    expect(await used()).toEqual([undefined, undefined])
    await shared.store.touchKeys(new Map([[one.key.id, T0 + 10]]))
    expect(await used()).toEqual([T0 + 10, undefined])
    await shared.store.touchKeys(
      new Map([
        [one.key.id, T0 + 5],
        [two.key.id, T0 + 7],
        ['none', T0],
      ]),
    )
    expect(await used()).toEqual([T0 + 10, T0 + 7])
    await shared.store.touchKeys(new Map())
    await shared.store.touchKeys(new Map([[one.key.id, T0 + 11]]))
    expect(await used()).toEqual([T0 + 11, T0 + 7])
  })

  promise(
    'requests refused with a key are added up, and the time of the last moves forward and never back',
    async () => {
      const { accountId } = await newAccount()
      const { key } = await create({ accountId })
      const count = (count: number, lastAt: number) =>
        shared.store.countRefusals(
          new Map([
            [key.id, { count, lastAt }],
            ['none', { count, lastAt }],
          ]),
        )
      await count(2, T0 + 9)
      await count(3, T0 + 5)
      const after = { ...key, refusedRequests: 5, lastRefusedAt: T0 + 9 }
      expect(await shared.store.findKey({ accountId, keyId: key.id })).toEqual(after)
    },
  )

  promise('the named fields of a key change, null removes one, the rest stays', async () => {
    const { accountId } = await newAccount()
    const plain = apiKey({ accountId })
    const limits = { expiresAt: T0 + 1, deviceIds: ['tracker-1'], rateLimit: 120 }
    const { key, hash } = await create({ ...plain, ...limits })
    const change = (fields: object) =>
      shared.store.changeKey({ accountId, keyId: key.id, ...fields })
    expect(await change({})).toEqual(key)
    const renamed = { ...key, name: 'gateway "2"', rateLimit: 7 }
    expect(await change({ name: renamed.name, rateLimit: 7 })).toEqual(renamed)
    const moved = { ...renamed, expiresAt: T0 + 99, deviceIds: ['a*', "o'b"] }
    expect(await change({ expiresAt: T0 + 99, deviceIds: ['a*', "o'b"] })).toEqual(moved)
    expect((await shared.store.findGrant(hash))?.key).toEqual(moved)
    const bare = { ...plain, name: moved.name }
    const taken = await change({ expiresAt: null, deviceIds: null, rateLimit: null })
    expect(taken).toEqual(bare)
    expect(Object.keys(taken ?? {})).not.toContain('deviceIds')
    expect(await shared.store.findKey({ accountId, keyId: key.id })).toEqual(bare)
    expect(await change({ deviceIds: [] })).toEqual({ ...bare, deviceIds: [] })
  })

  promise('only the account of a key can change it', async () => {
    const { key, hash } = await create(await newAccount())
    const { accountId } = await newAccount()
    const change = { accountId, keyId: key.id, name: 'mine' }
    expect(await shared.store.changeKey(change)).toBeUndefined()
    expect(await shared.store.changeKey({ ...change, keyId: 'none' })).toBeUndefined()
    expect((await shared.store.findGrant(hash))?.key).toEqual(key)
  })

  async function newAccount(): Promise<{ accountId: string }> {
    const made = account()
    await shared.store.createAccount(made)
    return { accountId: made.id }
  }

  async function create(fields: Partial<ApiKey> & { accountId: string }) {
    const key = apiKey(fields)
    const hash = secretHash(newApiKey())
    await shared.store.createKey(key, hash)
    return { key, hash }
  }
}
