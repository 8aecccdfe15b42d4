import type { IncomingMessage } from 'node:http'
import { isIPv6 } from 'node:net'

/** No address is longer: a client invented a longer text. */
const LONGEST = 64

/**
 * The address of a request's client, without port and brackets: the connection's, or behind proxies
 * the one written by the outermost of `trustProxy` proxies. Clients themselves write the rest.
 */
export function clientAddress(
  { headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
  { trustProxy }: { trustProxy: number },
): string {
  const { remoteAddress = '' } = socket
  const forwarded = trustProxy > 0 ? headers['x-forwarded-for'] : undefined
  if (typeof forwarded !== 'string') return plainAddress(remoteAddress)
  const [written = ''] = forwarded.split(',').slice(-trustProxy)
  return plainAddress(written) || plainAddress(remoteAddress)
}

/**
 * Identifies the client behind an address, for limits per client: the first 64 bits of an IPv6
 * address, because one client controls the remaining bits; IPv4 in IPv6 as IPv4.
 */
export function clientOf(address: string): string {
  const plain = plainAddress(address)
  if (!isIPv6(plain)) return plain
  const network = groupsOf(plain)
    .slice(0, 4)
    .map((group) => group.toString(16))
  return `${network.join(':')}::/64`
}

/**
 * Returns the canonical form of an address. Some proxies write a port, a new one for each
 * connection; an IPv6 address then has brackets. IPv4 in IPv6 becomes IPv4, and a zone, known only
 * to one machine, is removed.
 */
export function plainAddress(text: string): string {
  const address = stripPort(text.trim())
  if (!isIPv6(address)) return address.slice(0, LONGEST)
  const hostname = hostnameOf(address)
  const groups = groupsOf(hostname)
  const [high = 0, low = 0] = groups.slice(6)
  const isMapped = groups.slice(0, 6).join() === '0,0,0,0,0,65535'
  return isMapped ? [high >> 8, high & 255, low >> 8, low & 255].join('.') : hostname
}

function stripPort(text: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d*)?$/.exec(text)?.[1]
  if (bracketed !== undefined) return bracketed
  return isIPv6(text) ? text : text.replace(/:\d*$/, '')
}

/** An IPv6 address in its usual spelling, without its zone. */
function hostnameOf(address: string): string {
  const [unscoped = ''] = address.split('%')
  return new URL(`http://[${unscoped}]`).hostname.slice(1, -1)
}

/** The eight numbers of an IPv6 address in its usual spelling. */
function groupsOf(hostname: string): number[] {
  const [front = [], back = []] = hostname
    .split('::')
    .map((part) => part.split(':').filter(Boolean))
  const zeros = Array.from({ length: 8 - front.length - back.length }, () => '0')
  return [...front, ...zeros, ...back].map((group) => parseInt(group, 16))
}
