import { ApiError } from '../../runtime/errors.ts'
import { Slots } from '../../runtime/limits/slots.ts'
import type { GiveBack } from '../../runtime/limits/turns.ts'
import type { StreamOptions } from './options.ts'

export type SeatOwner = {
  readonly accountId: string
  readonly callerId: string
}

/** A reader of a link: many people have one, so only those of an account together are limited. */
export type LinkSeatOwner = { readonly linksOfAccount: string }

const RETRY_AFTER_SECONDS = '10'
const TOO_MANY = 'too many streams are open, please try again later'

/** Limits the readers of a process: in total, per account, per key or session, and those of links. */
export function seats(
  limits: Pick<
    StreamOptions,
    'readers' | 'readersPerAccount' | 'readersPerCaller' | 'catchingUp' | 'catchingUpPerAccount'
  >,
) {
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

/** Chunks rendered and written in one turn of the event loop, by all readers together: a few milliseconds. */
const CHUNKS_A_TURN = 16

/**
 * Spreads the work of many readers over turns of the event loop, first come, first served. A reader that has
 * fallen behind would otherwise write megabytes in one turn, because the kernel takes them immediately, and a
 * hundred of them would hold up every other call for seconds.
 */
export function sharedTurns(chunksATurn = CHUNKS_A_TURN): () => Promise<void> {
  const waiting: (() => void)[] = []
  let left = chunksATurn
  let isScheduled = false

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      const next = waiting.splice(0, chunksATurn)
      left = chunksATurn - next.length
      if (next.length > 0) schedule()
      for (const proceed of next) proceed()
    })
  }

  return async function nextTurn() {
    schedule()
    if (left > 0) left -= 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
  }
}
