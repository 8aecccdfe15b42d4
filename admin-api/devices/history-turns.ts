import { tooMany } from '../http/call-rate.ts'
import { PartyTurns } from '../http/caller-limits.ts'
import { Turns } from '../../runtime/limits/turns.ts'

const AT_ONCE = 2
const WAITS_MS = 20_000
/** The limit of all accounts together: each reading keeps some megabytes. */
const AT_ONCE_IN_ALL = 8

/** Reads whole histories for a few callers at a time; the accounts take turns. */
export type HistoryTurns = {
  /** @throws {ApiError} 429 if it has waited for too long. */
  run<T>(accountId: string, read: () => Promise<T>): Promise<T>
}

export function historyTurns(): HistoryTurns {
  const refusal = () =>
    tooMany(`at most ${AT_ONCE} tracks or trips are read at the same time for one account`, 5)
  const ofAccounts = new PartyTurns({
    atOnce: AT_ONCE,
    // The calls of an account are limited before.
    waiting: Infinity,
    waitsMs: WAITS_MS,
    refusal,
  })
  const all = new Turns({
    atOnce: AT_ONCE_IN_ALL,
    waiting: Infinity,
    waitsMs: WAITS_MS,
    refusal,
  })
  return {
    async run(accountId, read) {
      const giveBack = await ofAccounts.take(accountId)
      try {
        return await all.run(read, accountId)
      } finally {
        giveBack()
      }
    },
  }
}
