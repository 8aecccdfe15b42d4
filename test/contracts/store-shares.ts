import { expect } from '@jest/globals'
import { randomUUID } from 'node:crypto'
import { secretHash } from '../../schemas/access/api-key.ts'
import type { Share } from '../../store/back-office.ts'
import { T0 } from '../samples.ts'
import type { StoreSuite } from './store-suite.ts'
import { account, newAccountId } from './store-samples.ts'

const DAY_MS = 24 * 3_600_000

export function sharesContract({ promise, shared }: StoreSuite): void {
  async function withAccount(): Promise<string> {
    const made = account()
    await shared.store.createAccount(made)
    return made.id
  }

  promise(
    'a share is found only by the hash of its token, expired or not, even after a restart',
    async () => {
      const accountId = await withAccount()
      const named = devices('tug', '$ne').map((one) => ({ ...one, name: `The ${one.ref}` }))
      const unnamed = unnamedShare({ accountId, devices: named })
      const [one, other] = [unnamed, share({ accountId, expiresAt: T0 })]
      const [token, otherToken] = [secretHash(randomUUID()), secretHash(randomUUID())]
      await shared.store.createShare(one, token)
      await shared.store.createShare(other, otherToken)
      await shared.reopen()
      const { store } = shared
      expect(await store.findShare(token)).toEqual({ share: one, accountSuspended: false })
      expect(await store.findShare(otherToken)).toMatchObject({ share: other })
      expect(await store.findShare(secretHash('none'))).toBeUndefined()
      await store.suspendAccount({ accountId, suspended: true })
      expect(await store.findShare(token)).toEqual({ share: one, accountSuspended: true })
    },
  )

  promise('a share can be deleted once, by its own account', async () => {
    const accountId = await withAccount()
    const token = secretHash(randomUUID())
    const one = share({ accountId })
    await shared.store.createShare(one, token)
    const { store } = shared
    expect(await store.deleteShare({ accountId: newAccountId(), shareId: one.id })).toBeUndefined()
    expect(await store.findShare(token)).toMatchObject({ share: one })
    expect(await store.deleteShare({ accountId, shareId: one.id })).toEqual(one)
    expect(await store.deleteShare({ accountId, shareId: one.id })).toBeUndefined()
    expect(await store.findShare(token)).toBeUndefined()
  })

  promise(
    'an erased device is removed from all shares of its account, however many',
    async ({ accountId }) => {
      const other = share({ accountId: newAccountId(), devices: devices('tug', 'ferry') })
      await shared.store.createShare(other, secretHash(randomUUID()))
      for (let n = 0; n < 130; n += 1) {
        const one = share({ accountId, createdAt: T0 + n, devices: devices('tug', 'ferry', 'Tug') })
        await shared.store.createShare(one, secretHash(randomUUID()))
      }
      const sharedUpTo = T0 + 129
      const later = share({ accountId, createdAt: T0 + 130, devices: devices('tug') })
      await shared.store.createShare(later, secretHash(randomUUID()))
      await shared.store.unshareDevice({ accountId, deviceId: 'tug', sharedUpTo })
      const [newest, ...left] = await shared.store.pageShares({ accountId, limit: 200 })
      expect(newest).toEqual(later)
      expect(left).toHaveLength(130)
      const names = left.map((one) => one.devices.map(({ deviceId }) => deviceId).join())
      expect(new Set(names)).toEqual(new Set(['ferry,Tug']))
      const { accountId: theirs } = other
      expect(await shared.store.pageShares({ accountId: theirs, limit: 9 })).toEqual([other])
    },
  )
}

function devices(...ids: string[]) {
  return ids.map((deviceId) => ({ deviceId, ref: `ref of ${deviceId}` }))
}

type Changes = Partial<Share> & { accountId: string }

function share(changes: Changes): Share {
  return { name: 'Ferries "Süd" 😀', ...unnamedShare(changes) }
}

function unnamedShare(changes: Changes): Share {
  return {
    id: randomUUID(),
    devices: devices('$ne', 'ferry'),
    trailMinutes: 30,
    createdAt: T0,
    // Long after the end of any other test here.
    expiresAt: T0 + 30 * DAY_MS,
    ...changes,
  }
}
