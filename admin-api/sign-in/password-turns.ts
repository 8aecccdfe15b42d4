import { isIPv6 } from 'node:net'
import { unavailable } from '../../runtime/http.ts'
import { Turns } from '../http/turns.ts'

/** All password work, by client: see `clientOf`. */
export type PasswordTurns = Pick<Turns, 'run'>

/**
 * Hashing a password takes a core for about a tenth of a second, which must not starve other work.
 * Clients take turns, each with a limited share of the queue, so none can lock others out.
 */
export function passwordTurns(): PasswordTurns {
  return new Turns({
    atOnce: 2,
    waiting: 50,
    waitingEach: 10,
    refusal: () => unavailable('too many are signing in right now, please try again'),
  })
}

/** The client behind an address: of IPv6 the first 64 bits, as one client has all the rest. */
export function clientOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  if (!isIPv6(address)) return address
  const [front = [], back = []] = address.split('::').map((part) => part.split(':').filter(Boolean))
  const zeros = Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => '0')
  return `${[...front, ...zeros, ...back].slice(0, 4).join(':')}::/64`
}
