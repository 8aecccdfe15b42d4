import { Turns } from '../runtime/limits/turns.ts'
import type { Store } from '../store/store.ts'

const AT_ONCE = 16
const AT_ONCE_EACH = 2

/**
 * A store whose look-ups for pages of subscriptions take turns by account. However many subscriptions of one account
 * read, the look-ups and writes of others find a short line in the database.
 */
export function lookUpsInTurns<
  Given extends Pick<Store, 'findDevices' | 'erasuresOf' | 'heldFacts'>,
>(store: Given): Given {
  const turns = new Turns({
    atOnce: AT_ONCE,
    atOnceEach: AT_ONCE_EACH,
    waiting: Infinity,
    refusal: () => new Error('look-ups wait without limit'),
  })
  return {
    ...store,
    findDevices: (query) => turns.run(() => store.findDevices(query), query.accountId),
    erasuresOf: (query) => turns.run(() => store.erasuresOf(query), query.accountId),
    heldFacts: (query) => turns.run(() => store.heldFacts(query), query.accountId),
  }
}
