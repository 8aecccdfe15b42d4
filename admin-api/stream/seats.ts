import { ApiError } from '../../runtime/errors.ts'

/** Gives a place back; calling it again changes nothing. */
export type GiveBack = () => void

export type SeatLimits = {
  readonly readers: number
  readonly readersPerAccount: number
  /** How many may read what the ring no longer holds at the same time. */
  readonly catchingUp: number
}

const RETRY_AFTER_SECONDS = '10'

/** How many readers a process has, all in all and of each account. */
export function seats({ readers, readersPerAccount, catchingUp }: SeatLimits) {
  const taken = new Map<string, number>()
  let takenInAll = 0
  let turns = 0

  return {
    /** @throws {ApiError} 429 when there are too many. */
    take(accountId: string): GiveBack {
      const own = taken.get(accountId) ?? 0
      if (own >= readersPerAccount) {
        throw tooMany(`an account has at most ${readersPerAccount} streams open: close one first`)
      }
      if (takenInAll >= readers) throw tooMany('too many streams are open, please try again later')
      taken.set(accountId, own + 1)
      takenInAll += 1
      return once(() => {
        const left = (taken.get(accountId) ?? 1) - 1
        if (left > 0) taken.set(accountId, left)
        else taken.delete(accountId)
        takenInAll -= 1
      })
    },

    /** A turn at catching up; undefined when all are taken. */
    turn(): GiveBack | undefined {
      if (turns >= catchingUp) return undefined
      turns += 1
      return once(() => (turns -= 1))
    },
  }
}

function tooMany(message: string): ApiError {
  return new ApiError('RATE_LIMITED', message, { headers: { 'Retry-After': RETRY_AFTER_SECONDS } })
}

function once(work: () => void): GiveBack {
  let done = false
  return () => {
    if (!done) work()
    done = true
  }
}
