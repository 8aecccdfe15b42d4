import { ApiError } from '../../runtime/errors.ts'
import type { GiveBack } from '../../runtime/turns.ts'

export type SeatLimits = {
  /** Links have at most half of them. */
  readonly readers: number
  /** The limit of an account: one for its keys and sessions, one for its links. */
  readonly readersPerAccount: number
  /** Per key or session. */
  readonly readersPerCaller: number
  /** How many readers may read past entries, no longer in the ring, at a time. */
  readonly catchingUp: number
  readonly catchingUpPerAccount: number
}

export type SeatOwner = {
  readonly accountId: string
  readonly callerId: string
}

/** A reader of a link: many people have one, so only those of an account together are limited. */
export type LinkSeatOwner = { readonly linksOfAccount: string }

const RETRY_AFTER_SECONDS = '10'
const TOO_MANY = 'too many streams are open, please try again later'

/** Limits the readers of a process: in total, per account, per key or session, and those of links. */
export function seats(limits: SeatLimits) {
  const readers = places(limits.readers)
  const ofAccounts = places(limits.readersPerAccount)
  const ofCallers = places(limits.readersPerCaller)
  const turns = places(limits.catchingUp)
  const turnsOfAccounts = places(limits.catchingUpPerAccount)
  const links = places(Math.floor(limits.readers / 2))
  const linksOfAccounts = places(limits.readersPerAccount)

  return {
    /** @throws {ApiError} 429 when there are too many. */
    take(owner: SeatOwner | LinkSeatOwner): GiveBack {
      const giveBack = 'linksOfAccount' in owner ? takeLink(owner) : takeOwn(owner)
      return all(giveBack, readers.take())
    },

    /** A turn at catching up; undefined when the account's or the total limit is reached. */
    turn(accountId: string): GiveBack | undefined {
      if (turns.areTaken() || turnsOfAccounts.areTaken(accountId)) return undefined
      return all(turns.take(), turnsOfAccounts.take(accountId))
    },
  }

  function takeOwn({ accountId, callerId }: SeatOwner): GiveBack {
    if (ofCallers.areTaken(callerId)) {
      throw tooMany(`at most ${limits.readersPerCaller} streams are open: close one first`)
    }
    if (ofAccounts.areTaken(accountId)) {
      throw tooMany(`an account has at most ${limits.readersPerAccount} streams: close one first`)
    }
    if (readers.areTaken()) throw tooMany(TOO_MANY)
    return all(ofCallers.take(callerId), ofAccounts.take(accountId))
  }

  function takeLink({ linksOfAccount: accountId }: LinkSeatOwner): GiveBack {
    const isFull = linksOfAccounts.areTaken(accountId) || links.areTaken() || readers.areTaken()
    if (isFull) throw tooMany(TOO_MANY)
    return all(linksOfAccounts.take(accountId), links.take())
  }
}

/** A counter with this limit for each key. */
function places(limit: number) {
  const taken = new Map<string, number>()
  return {
    areTaken: (whose = '') => (taken.get(whose) ?? 0) >= limit,

    take(whose = ''): GiveBack {
      taken.set(whose, (taken.get(whose) ?? 0) + 1)
      return () => {
        const left = (taken.get(whose) ?? 1) - 1
        if (left > 0) taken.set(whose, left)
        else taken.delete(whose)
      }
    },
  }
}

function all(...given: readonly GiveBack[]): GiveBack {
  let done = false
  return () => {
    if (!done) for (const giveBack of given) giveBack()
    done = true
  }
}

function tooMany(message: string): ApiError {
  return new ApiError('RATE_LIMITED', message, { headers: { 'Retry-After': RETRY_AFTER_SECONDS } })
}
