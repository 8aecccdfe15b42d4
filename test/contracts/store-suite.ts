import { afterAll, beforeAll, test } from '@jest/globals'
import type { Store } from '../../store/store.ts'
import { LogOfOneSuite, newAccountId } from './store-samples.ts'

/** A store with its own data, empty at first. */
export type OpenedStore = {
  readonly store: Store
  /** Closes this store and opens another on the same data, like a restarted process. */
  readonly reopen: () => Promise<Store>
  /** The number of records in the first generation's table, including hidden ones. */
  readonly storedRecords: () => Promise<number>
  /** Ends the store opened last and removes its data. */
  close(): Promise<void>
}

export type OpenStore = () => Promise<OpenedStore>

type OnAStore = {
  readonly store: Store
  readonly accountId: string
  readonly log: LogOfOneSuite
  readonly reopen: () => Promise<Store>
}

export type StoreSuite = {
  /** A test on the store that all share, in a separate account. */
  readonly promise: (sentence: string, check: (given: OnAStore) => Promise<void>) => void
  /** A test on a separate store: it affects the data of every account. */
  readonly alone: (
    sentence: string,
    check: (given: OnAStore & Pick<OpenedStore, 'storedRecords'>) => Promise<void>,
  ) => void
  /** The shared store, as it was opened last. */
  readonly shared: Pick<OnAStore, 'store' | 'reopen'>
  /** The entries projected into the shared store. */
  readonly log: LogOfOneSuite
  /** The number of runs of a property here, for this many on a fast store. */
  readonly runs: (most: number) => number
}

/**
 * Opens one store for the tests of a `describe`; none of them empties it.
 * @param share the part of a property's runs that this store gets: less than 1 where one takes seconds.
 */
export function storeSuite(open: OpenStore, share = 1): StoreSuite {
  let opened: OpenedStore
  let store: Store
  const log = new LogOfOneSuite()
  beforeAll(async () => {
    opened = await open()
    store = opened.store
  })
  afterAll(() => opened.close())
  const reopen = async () => (store = await opened.reopen())
  const shared = {
    get store() {
      return store
    },
    reopen,
  }
  return {
    promise(sentence, check) {
      test(sentence, () => check({ ...shared, accountId: newAccountId(), log }))
    },
    alone(sentence, check) {
      const log = new LogOfOneSuite()
      test(sentence, () =>
        withStore(open, (opened) => check({ ...opened, accountId: newAccountId(), log })),
      )
    },
    shared,
    log,
    runs: (most) => Math.ceil(most * share),
  }
}

/** Opens a store for the duration of its use. */
export async function withStore(open: OpenStore, use: (opened: OpenedStore) => Promise<void>) {
  const opened = await open()
  try {
    await use(opened)
  } finally {
    await opened.close()
  }
}
