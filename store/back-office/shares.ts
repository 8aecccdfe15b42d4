import { endOfTurn } from '../../runtime/end-of-turn.ts'
import { readPages } from '../../runtime/process/read-pages.ts'
import type { Share, SharedDevice, Shares } from '../back-office.ts'
import type { DocumentStore, Revisioned } from '../documents.ts'
import { isSameLife } from '../erasing-devices.ts'
import type { Erasures } from '../read-models.ts'
import { changeDocument } from './changing.ts'
import { hashText, type AccountDocument, type ShareDocument } from './kinds.ts'

const LOOKED_AT_ONCE = 100
/** Shares read per event-loop turn: few enough even if each has the maximum number of devices. */
const READ_AT_ONCE = 250

export function sharesOf({
  shares,
  accounts,
  livesOf,
}: {
  shares: DocumentStore<ShareDocument>
  accounts: DocumentStore<AccountDocument>
  livesOf: Erasures['livesOf']
}): Shares {
  /** Shares of one account, without devices that have been erased since they were shared. */
  async function toShares(documents: readonly Revisioned<ShareDocument>[]): Promise<Share[]> {
    const [accountId] = documents.map((share) => share.accountId)
    if (accountId === undefined) return []
    const all = documents.flatMap(({ devices }) => devices.map(({ deviceId }) => deviceId))
    const lives = await livesOf({ accountId, deviceIds: [...new Set(all)] })
    return documents.map((document) => {
      const share = shareOf(document)
      return keepDevices(share, ({ deviceId, life }) => isSameLife(life, lives.get(deviceId)))
    })
  }

  return {
    async createShare(share, tokenHash) {
      const document = { ...share, token: hashText(tokenHash) }
      await shares.insert([document])
      // `unshareDevice` may have run before this share was stored.
      const [{ devices } = share] = await toShares([{ ...document, revision: 1 }])
      if (devices.length === share.devices.length) return true
      await shares.remove({ id: share.id })
      return false
    },

    async pageShares({ accountId, limit, after, mostBytes }) {
      const query = { index: 'oldest', where: { accountId }, order: 'desc' } as const
      const page: Share[] = []
      for (let last = after; ;) {
        const most = Math.min(limit - page.length, READ_AT_ONCE)
        const sized = mostBytes !== undefined && { mostBytes }
        const part = await shares.find({
          ...query,
          limit: most,
          ...sized,
          ...(last && { after: last }),
        })
        page.push(...(await toShares(part)))
        last = part.at(-1)
        if (mostBytes !== undefined || page.length >= limit || part.length < most) return page
        await endOfTurn()
      }
    },

    async findShare(tokenHash) {
      const query = { index: 'token', where: { token: hashText(tokenHash) }, limit: 1 } as const
      const [share] = await toShares(await shares.find(query))
      const account = share && (await accounts.get(share.accountId))
      if (share === undefined || account === undefined) return undefined
      return { share, accountSuspended: account.suspended }
    },

    async deleteShare({ accountId, shareId }) {
      const document = await shares.get(shareId)
      if (document?.accountId !== accountId) return undefined
      const [share] = await toShares([document])
      return (await shares.remove({ id: shareId })) ? share : undefined
    },

    async unshareDevice({ accountId, deviceId, sharedUpTo }) {
      const current = (await livesOf({ accountId, deviceIds: [deviceId] })).get(deviceId)
      const isLeft = ({ createdAt }: Share, device: SharedDevice) =>
        device.deviceId !== deviceId || (createdAt > sharedUpTo && isSameLife(device.life, current))
      const without = (share: Revisioned<ShareDocument>) =>
        keepDevices(share, (device) => isLeft(share, device))
      const pages = readPages<Revisioned<ShareDocument>>(LOOKED_AT_ONCE, (page) =>
        shares.find({ index: 'oldest', where: { accountId }, ...page }),
      )
      for await (const page of pages) {
        for (const share of page) {
          if (share.devices.every((device) => isLeft(share, device))) continue
          await changeDocument(shares, share.id, without)
        }
      }
    },
  }
}

/** The title is removed with the last device, because it may name it. */
function keepDevices<S extends Share>(share: S, isLeft: (device: SharedDevice) => boolean): S {
  const devices = share.devices.filter(isLeft)
  const shown: S & { name?: string } = { ...share, devices }
  if (devices.length === 0) delete shown.name
  return shown
}

function shareOf({
  token: _token,
  revision: _revision,
  ...share
}: Revisioned<ShareDocument>): Share {
  return share
}
