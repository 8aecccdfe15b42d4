import { unavailable, type ApiError } from '../../runtime/errors.ts'
import { Turns } from '../../runtime/turns.ts'

/** The turns of all password work, by client: see `clientOf`. */
export type PasswordTurns = Pick<Turns, 'run'>

/**
 * Hashing a password takes a core for about a tenth of a second, which must not starve other work.
 * Clients take turns, each with a limited share of the queue, so none can lock others out.
 */
export function passwordTurns(): PasswordTurns {
  return new Turns({
    atOnce: 2,
    waiting: 50,
    // Equal to the failures allowed per address: see `SignInThrottle`.
    waitingEach: 30,
    refusal: noPasswordTurn,
  })
}

export function noPasswordTurn(): ApiError {
  return unavailable('too many are signing in right now, please try again')
}
