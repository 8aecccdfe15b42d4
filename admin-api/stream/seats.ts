import { ApiError } from '../../runtime/errors.ts'
import { Slots } from '../../runtime/limits/slots.ts'
import type { GiveBack } from '../../runtime/limits/turns.ts'

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
  const readers = new Slots({ mostEach: limits.readers })
  const ofAccounts = new Slots({ mostEach: limits.readersPerAccount })
  const ofCallers = new Slots({ mostEach: limits.readersPerCaller })
  const turns = new Slots({ most: limits.catchingUp, mostEach: limits.catchingUpPerAccount })
  const links = new Slots({ mostEach: Math.floor(limits.readers / 2) })
  const linksOfAccounts = new Slots({ mostEach: limits.readersPerAccount })

  return {
    /** @throws {ApiError} 429 when there are too many. */
    take(owner: SeatOwner | LinkSeatOwner): GiveBack {
      const giveBack = 'linksOfAccount' in owner ? takeLink(owner) : takeOwn(owner)
      return all(giveBack, taken(readers))
    },

    /** A turn at catching up; undefined when the account's or the total limit is reached. */
    turn(accountId: string): GiveBack | undefined {
      return turns.areTaken(accountId) ? undefined : all(taken(turns, accountId))
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
    return all(taken(ofCallers, callerId), taken(ofAccounts, accountId))
  }

  function takeLink({ linksOfAccount: accountId }: LinkSeatOwner): GiveBack {
    const isFull = linksOfAccounts.areTaken(accountId) || links.areTaken() || readers.areTaken()
    if (isFull) throw tooMany(TOO_MANY)
    return all(taken(linksOfAccounts, accountId), taken(links))
  }
}

/** Takes one, and returns what gives it back. */
function taken(slots: Slots, party?: string): GiveBack {
  slots.take(party)
  return () => slots.giveBack(party)
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
