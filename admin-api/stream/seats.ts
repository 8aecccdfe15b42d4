import { ApiError } from '../../runtime/errors.ts'
import { Slots, type GiveBack } from '../../runtime/limits/slots.ts'
import type { StreamOptions } from './options.ts'

export type SeatOwner = {
  readonly accountId: string
  readonly callerId: string
}

/**
 * A reader of a link: many people share it, so only an account's link readers together are limited.
 */
export type LinkSeatOwner = { readonly linksOfAccount: string }

const RETRY_AFTER_SECONDS = '10'
const TOO_MANY = 'too many streams are open, please try again later'

/** Limits the readers of a process: in total, per account, per key or session, and for links. */
export function seats(
  limits: Pick<
    StreamOptions,
    'readers' | 'readersPerAccount' | 'readersPerCaller' | 'catchingUp' | 'catchingUpPerAccount'
  >,
) {
  const { readers: most, readersPerAccount: mostEach } = limits
  const readers = new Slots({ most })
  const ofAccounts = new Slots({ mostEach })
  const ofCallers = new Slots({ mostEach: limits.readersPerCaller })
  const ofLinks = new Slots({ most: Math.floor(most / 2), mostEach })
  const turns = new Slots({ most: limits.catchingUp, mostEach: limits.catchingUpPerAccount })

  return {
    /** @throws {ApiError} 429 when there are too many. */
    take(owner: SeatOwner | LinkSeatOwner): GiveBack {
      const held = 'linksOfAccount' in owner ? holdForLink(owner) : holdForCaller(owner)
      held.push(readers.hold())
      return () => held.forEach((giveBack) => giveBack())
    },

    /** A slot for catching up; undefined when the account's or the total limit is reached. */
    turn(accountId: string): GiveBack | undefined {
      return turns.areTaken(accountId) ? undefined : turns.hold(accountId)
    },
  }

  function holdForCaller({ accountId, callerId }: SeatOwner): GiveBack[] {
    if (ofCallers.areTaken(callerId)) {
      throw tooManyStreams(`at most ${limits.readersPerCaller} streams are open: close one first`)
    }
    if (ofAccounts.areTaken(accountId)) {
      throw tooManyStreams(
        `an account has at most ${limits.readersPerAccount} streams: close one first`,
      )
    }
    if (readers.areTaken()) throw tooManyStreams(TOO_MANY)
    return [ofCallers.hold(callerId), ofAccounts.hold(accountId)]
  }

  function holdForLink({ linksOfAccount: accountId }: LinkSeatOwner): GiveBack[] {
    if (ofLinks.areTaken(accountId) || readers.areTaken()) throw tooManyStreams(TOO_MANY)
    return [ofLinks.hold(accountId)]
  }
}

function tooManyStreams(message: string): ApiError {
  return new ApiError('RATE_LIMITED', message, { headers: { 'Retry-After': RETRY_AFTER_SECONDS } })
}

/** Chunks rendered and written per event-loop turn, by all readers together: a few milliseconds. */
const CHUNKS_A_TURN = 16

/**
 * Spreads the work of many readers over event-loop turns, first come, first served. A reader
 * that has fallen behind would otherwise write megabytes in one turn, because the kernel takes them
 * immediately, and a hundred of them would block every other call for seconds.
 */
export function limitChunksPerTurn(chunksATurn = CHUNKS_A_TURN): () => Promise<void> {
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
