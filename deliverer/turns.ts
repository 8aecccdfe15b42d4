import { Slots } from '../runtime/limits/slots.ts'
import type { Store } from '../store/store.ts'

const REQUESTS = { total: 64, perAccount: 8 }
const LOOK_UPS = { most: 16, mostEach: 2 }

/**
 * The maximum number of requests in flight; accounts take turns. Failing receivers, which may take
 * long, get at most half of them, in total and per account, so that they delay no others.
 */
export function requestSlots({ total, perAccount } = REQUESTS) {
  const all = new Slots({ most: total, mostEach: perAccount })
  const failing = new Slots({ most: total / 2, mostEach: perAccount / 2 })

  return {
    /** Resolves once a request may start, with the function that releases its slot. */
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
 * A store whose look-ups for pages of subscriptions take turns by account. However many
 * subscriptions of one account are reading, look-ups and writes for others find a short queue at
 * the database.
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
