import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The networks that operators' URLs may reach in addition to the public Internet. */
export type OutboundNetworks = readonly Network[]

const VARIABLE = 'WEBHOOK_ALLOW_NETWORKS'

/**
 * Why a URL entered by an operator is rejected, as far as the URL alone shows; undefined if it is
 * accepted. Its name is resolved when connecting.
 */
export function outboundUrlFault(text: string, networks: OutboundNetworks): string | undefined {
  if (!URL.canParse(text)) return 'must be a URL such as https://example.org/hook'
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must start with https://'
  if (url.username !== '' || url.password !== '') return 'must have no user name and password'
  const address = parseAddress(url)
  if (address !== undefined) return addressFault(url, address, networks)
  if (url.protocol === 'http:' && networks.length === 0) {
    return `must start with https://; http:// needs a network in ${VARIABLE}`
  }
  return undefined
}

/** Explains why the address of a URL's host is rejected; undefined if it is accepted. */
export function addressFault(
  { protocol }: Pick<URL, 'protocol'>,
  address: string,
  networks: OutboundNetworks,
): string | undefined {
  if (isInNetworks(address, networks)) return undefined
  if (protocol === 'http:')
    return `must start with https://; http:// needs a network in ${VARIABLE}`
  if (isPublicAddress(address)) return undefined
  return `must not lead to an address that is not public; ${VARIABLE} makes exceptions`
}

/** The address that a URL has instead of a name. URL knows every spelling of an IPv4 address. */
export function parseAddress({ hostname }: Pick<URL, 'hostname'>): string | undefined {
  const bare = hostname.replace(/^\[|\]$/g, '')
  return isIP(bare) === 0 ? undefined : bare
}

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** A network in CIDR notation, `10.0.0.0/8`. */
export type Network = readonly [Address, number]

/** Undefined for anything but a network in CIDR notation. */
export function parseNetwork(text: string): Network | undefined {
  return ipaddr.isValidCIDR(text) ? ipaddr.parseCIDR(text) : undefined
}

/**
 * Whether everything an address reaches, including through an embedded IPv4 address, is in one of
 * the networks.
 */
export function isInNetworks(address: string, networks: readonly Network[]): boolean {
  const reached = parseAddresses(address)
  return (
    reached.length > 0 && reached.every((one) => networks.some((network) => fits(one, network)))
  )
}

/**
 * Whether an address belongs to a host in the public Internet, even if it wraps an IPv4 address:
 * mapped, NAT64, 6to4, Teredo.
 */
export function isPublicAddress(address: string): boolean {
  const reached = parseAddresses(address)
  return reached.length > 0 && reached.every(isPublic)
}

const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3')

function isPublic(address: Address): boolean {
  const isUnicast = (address.range() as string) === 'unicast'
  return isUnicast && (address.kind() === 'ipv4' || fits(address, GLOBAL_UNICAST))
}

function fits(address: Address, [network, bits]: Network): boolean {
  return address.kind() === network.kind() && address.match(network, bits)
}

const NAT64 = ipaddr.parseCIDR('64:ff9b::/96')
const SIX_TO_FOUR = ipaddr.parseCIDR('2002::/16')
const TEREDO = ipaddr.parseCIDR('2001::/32')

/** Parses an address, or the addresses it embeds; empty if the text is not an address. */
function parseAddresses(text: string): readonly Address[] {
  // A zone names an interface of one machine.
  const plain = text.replace(/%.*$/s, '')
  if (!ipaddr.isValid(plain)) return []
  const address = ipaddr.parse(plain)
  if (address.kind() === 'ipv4') return [address]
  const six = address as ipaddr.IPv6
  if (six.isIPv4MappedAddress()) return [six.toIPv4Address()]
  const bytes = six.toByteArray()
  if (fits(six, NAT64)) return [four(bytes.slice(12))]
  if (fits(six, SIX_TO_FOUR)) return [four(bytes.slice(2, 6))]
  // The server, and the client, whose bits are inverted.
  if (fits(six, TEREDO)) return [four(bytes.slice(4, 8)), four(bytes.slice(12).map((b) => b ^ 255))]
  return [six]
}

function four(bytes: number[]): ipaddr.IPv4 {
  return new ipaddr.IPv4(bytes)
}
