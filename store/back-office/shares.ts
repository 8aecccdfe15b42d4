import type { Share, Shares } from '../back-office.ts'
import type { Documents, Revisioned } from '../documents.ts'
import { changed } from './changing.ts'
import { hashText, type AccountDocument, type ShareDocument } from './kinds.ts'

/** The time for which an expired share is still listed. */
const LISTED_MS = 7 * 24 * 60 * 60 * 1_000
const LOOKED_AT_ONCE = 100

export function sharesOf({
  shares,
  accounts,
}: {
  shares: Documents<ShareDocument>
  accounts: Documents<AccountDocument>
}): Shares {
  return {
    async createShare(share, tokenHash) {
      await shares.insert([{ ...share, token: hashText(tokenHash) }])
      await shares.removeOlder({ index: 'expires', than: share.createdAt - LISTED_MS })
    },

    async pageShares({ accountId, limit, after }) {
      const query = { index: 'oldest', where: { accountId }, order: 'desc', limit } as const
      return (await shares.find({ ...query, ...(after && { after }) })).map(shareOf)
    },

    async findShare(tokenHash) {
      const query = { index: 'token', where: { token: hashText(tokenHash) }, limit: 1 } as const
      const [share] = await shares.find(query)
      const account = share && (await accounts.get(share.accountId))
      if (share === undefined || account === undefined) return undefined
      return { share: shareOf(share), accountSuspended: account.suspended }
    },

    async deleteShare({ accountId, shareId }) {
      const share = await shares.get(shareId)
      if (share?.accountId !== accountId) return undefined
      return (await shares.remove({ id: shareId })) ? shareOf(share) : undefined
    },

    async unshareDevice({ accountId, deviceId }) {
      const without = (share: Revisioned<ShareDocument>) => ({
        ...share,
        devices: share.devices.filter((device) => device.deviceId !== deviceId),
      })
      const query = { index: 'oldest', where: { accountId }, limit: LOOKED_AT_ONCE } as const
      for (let page = await shares.find(query); ;) {
        for (const { id, devices } of page) {
          if (!devices.some((device) => device.deviceId === deviceId)) continue
          await changed(shares, id, without)
        }
        const after = page.at(-1)
        if (after === undefined || page.length < LOOKED_AT_ONCE) return
        page = await shares.find({ ...query, after })
      }
    },
  }
}

function shareOf({
  token: _token,
  revision: _revision,
  ...share
}: ShareDocument & { readonly revision?: number }): Share {
  return share
}
