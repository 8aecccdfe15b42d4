import { Turns } from '../runtime/limits/turns.ts'
import type { Store } from '../store/store.ts'

export type SlotLimits = { readonly total: number; readonly perAccount: number }

const REQUESTS: SlotLimits = { total: 64, perAccount: 8 }
const LOOK_UPS: SlotLimits = { total: 16, perAccount: 2 }

/**
 * The requests that may be under way at a time; accounts take turns. Failing receivers, which may take long, have
 * half of them at most, in all and of each account: so they delay no others.
 */
export function requestSlots({ total, perAccount }: SlotLimits = REQUESTS) {
  const all = turns({ total, perAccount })
  const failing = turns({ total: total / 2, perAccount: perAccount / 2 })

  return {
    /** Resolves once a request may begin, with the function that ends it. */
    async take({
      accountId,
      isFailing,
    }: {
      readonly accountId: string
      readonly isFailing: boolean
    }): Promise<() => void> {
      const endFailing = isFailing ? await failing.take(accountId) : undefined
      const end = await all.take(accountId)
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
  const lookUps = turns(LOOK_UPS)
  return {
    ...store,
    findDevices: (query) => lookUps.run(() => store.findDevices(query), query.accountId),
    erasuresOf: (query) => lookUps.run(() => store.erasuresOf(query), query.accountId),
    heldFacts: (query) => lookUps.run(() => store.heldFacts(query), query.accountId),
  }
}

function turns({ total: atOnce, perAccount: atOnceEach }: SlotLimits): Turns {
  const refusal = () => new Error('all wait without limit')
  return new Turns({ atOnce, atOnceEach, waiting: Infinity, refusal })
}
