import type { Logger } from '../../runtime/process/logger.ts'
import { periodically } from '../../runtime/process/repeat.ts'

/** Looks for changes in each account that has readers for them. */
export type AccountWatch<Look> = {
  /** Watches an account until every returned function has been called. */
  follow(accountId: string): () => void
  of(accountId: string): Look | undefined
}

export function accountWatch<Look extends { look(): Promise<void> }>({
  what,
  everyMs,
  logger,
  start,
}: {
  what: string
  everyMs: number
  logger: Logger
  /** `signal` is aborted when the account has no reader left. */
  start: (accountId: string, signal: AbortSignal) => Look
}): AccountWatch<Look> {
  const accounts = new Map<string, { look: Look; end: () => void; readers: number }>()

  function begin(accountId: string) {
    const ending = new AbortController()
    const { signal } = ending
    const look = start(accountId, signal)
    periodically({ what, everyMs, task: () => look.look(), signal, logger }).catch(
      (error: unknown) => logger.error({ err: error, what }, 'watching failed'),
    )
    const begun = { look, end: () => ending.abort(), readers: 0 }
    accounts.set(accountId, begun)
    return begun
  }

  return {
    follow(accountId) {
      const account = accounts.get(accountId) ?? begin(accountId)
      account.readers += 1
      return () => {
        account.readers -= 1
        if (account.readers > 0) return
        account.end()
        accounts.delete(accountId)
      }
    },

    of: (accountId) => accounts.get(accountId)?.look,
  }
}
