import type { Operators } from '../store/operators.ts'

const READ_AT_ONCE = 500

/** The accounts that are suspended, as of the last refresh. */
export function suspendedAccounts(store: Pick<Operators, 'pageAccounts'>) {
  let suspended: ReadonlySet<string> | undefined

  return {
    async refresh(): Promise<void> {
      const found = new Set<string>()
      for (let page = await store.pageAccounts({ limit: READ_AT_ONCE }); ;) {
        for (const account of page) if (account.suspended) found.add(account.id)
        const after = page.at(-1)
        if (after === undefined || page.length < READ_AT_ONCE) break
        page = await store.pageAccounts({ limit: READ_AT_ONCE, after })
      }
      suspended = found
    },
    areKnown: () => suspended !== undefined,
    has: (accountId: string) => suspended?.has(accountId) === true,
  }
}
