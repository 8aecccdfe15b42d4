import { Slots } from '../runtime/limits/slots.ts'
import type { Store } from '../store/store.ts'

const REQUESTS = { total: 64, perAccount: 8 }
const LOOK_UPS = { most: 16, mostEach: 2 }

/**
 * The requests that may be under way at a time; accounts take turns. Failing receivers, which may take long, have
 * half of them at most, in all and of each account: so they delay no others.
 */
export function requestSlots({ total, perAccount } = REQUESTS) {
  const all = new Slots({ most: total, mostEach: perAccount })
  const failing = new Slots({ most: total / 2, mostEach: perAccount / 2 })

  return {
    /** Resolves once a request may begin, with the function that ends it. */
    async take({
      accountId,
      isFailing,
    }: {
      readonly accountId: string
      readonly isFailing: boolean
    }): Promise<() => void> {
      const endFailing = isFailing ? await failing.wait(accountId) : undefined
      const end = await all.wait(accountId)
      return () => {
        end()
        endFailing?.()
      }
    },
  }
}

export type RequestSlots = ReturnType<typeof requestSlots>

/**
 * A store whose look-ups for pages of subscriptions take turns by account. However many subscriptions of one account
 * read, the look-ups and writes of others find a short line in the database.
 */
export function lookUpsInTurns<
  Given extends Pick<Store, 'findDevices' | 'erasuresOf' | 'heldFacts'>,
>(store: Given): Given {
  const lookUps = new Slots(LOOK_UPS)
  return {
    ...store,
    findDevices: (query) => lookUps.run(() => store.findDevices(query), query.accountId),
    erasuresOf: (query) => lookUps.run(() => store.erasuresOf(query), query.accountId),
    heldFacts: (query) => lookUps.run(() => store.heldFacts(query), query.accountId),
  }
}
