import { MOST_MAILS_AN_HOUR } from '../../schemas/subscriptions/subscription.ts'
import type { DocumentStore, Kind } from '../documents.ts'
import type { SubscriptionStore } from '../subscriptions.ts'
import { changed } from './changing.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** The mails that an account has caused. Its id is the account's. */
export type MailsDocument = {
  readonly id: string
  readonly sentAt: readonly number[]
  /** The addresses that were asked to sign in. */
  readonly asked: readonly { readonly address: string; readonly at: number }[]
}

export const MAILS: Kind<MailsDocument> = { name: 'mails', indexes: {} }

/** Counts mails before they are sent: of all processes together. */
export function mailsOf(mails: DocumentStore<MailsDocument>): Pick<SubscriptionStore, 'takeMail'> {
  return {
    async takeMail({ accountId, at, asks }) {
      if ((await mails.get(accountId)) === undefined) {
        await mails.insert([{ id: accountId, sentAt: [], asked: [] }])
      }
      let waitMs = 0
      await changed(mails, accountId, (before) => {
        const sentAt = before.sentAt.filter((time) => at - time < HOUR_MS)
        const asked = before.asked.filter((one) => at - one.at < DAY_MS)
        const [oldest = at] = sentAt
        const last = asked.find(({ address }) => address === asks)
        if (last !== undefined) waitMs = last.at + DAY_MS - at
        else waitMs = sentAt.length < MOST_MAILS_AN_HOUR ? 0 : oldest + HOUR_MS - at
        if (waitMs > 0) return undefined
        const asking = asks === undefined ? [] : [{ address: asks, at }]
        return { ...before, sentAt: [...sentAt, at], asked: [...asked, ...asking] }
      })
      return waitMs
    },
  }
}
