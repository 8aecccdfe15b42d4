import { isIP } from 'node:net'
import { isInNetworks, isPublicAddress, type Network } from './public-address.ts'

/** The networks that operators' URLs may reach besides the public Internet. */
export type OutboundNetworks = readonly Network[]

const VARIABLE = 'WEBHOOK_ALLOW_NETWORKS'

/**
 * Why a URL that an operator has entered is refused, as far as the URL alone shows it; undefined if it is not. Its
 * name is resolved when it is connected to.
 */
export function outboundUrlFault(text: string, networks: OutboundNetworks): string | undefined {
  if (!URL.canParse(text)) return 'must be a URL such as https://example.org/hook'
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must begin with https://'
  if (url.username !== '' || url.password !== '') return 'must have no user name and password'
  const address = addressIn(url)
  if (address !== undefined) return addressFault(url, address, networks)
  if (url.protocol === 'http:' && networks.length === 0) {
    return `must begin with https://; http:// needs a network in ${VARIABLE}`
  }
  return undefined
}

/** Why the address at which a URL's host was found is refused; undefined if it is not. */
export function addressFault(
  { protocol }: Pick<URL, 'protocol'>,
  address: string,
  networks: OutboundNetworks,
): string | undefined {
  if (isInNetworks(address, networks)) return undefined
  if (protocol === 'http:')
    return `must begin with https://; http:// needs a network in ${VARIABLE}`
  if (isPublicAddress(address)) return undefined
  return `must not lead to an address that is not public; ${VARIABLE} makes exceptions`
}

/** The address that a URL has in place of a name. URL knows every spelling of an IPv4 address. */
export function addressIn({ hostname }: Pick<URL, 'hostname'>): string | undefined {
  const bare = hostname.replace(/^\[|\]$/g, '')
  return isIP(bare) === 0 ? undefined : bare
}
