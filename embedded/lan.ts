import type { NetworkInterfaceInfo } from 'node:os'
import { renderUnicodeCompact } from 'uqr'

/** The settings of `--lan`: the service listens on all addresses of this computer. */
export const LAN_SETTINGS = { HOST: '0.0.0.0' }

/** Networks inside this computer, and tunnels: phones are not in them. */
const NOT_LOCAL =
  /^(docker|br-|veth|virbr|vmnet|vboxnet|vEthernet|lxc|lxd|podman|cni|flannel|tun|tap|utun|wg|tailscale|zt|awdl|llw|bridge)/i
const PRIVATE = /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.)/

/**
 * The address of this computer in the network of its router; addresses that only such networks use go
 * before others.
 * @throws {Error} if it has none.
 */
export function lanAddress(
  interfaces: Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>,
): string {
  const addresses = Object.entries(interfaces)
    .filter(([name]) => !NOT_LOCAL.test(name))
    .flatMap(([, infos = []]) => infos)
    .filter(({ family, internal, address }) => {
      // 169.254: a computer whose router has given it none.
      return family === 'IPv4' && !internal && !address.startsWith('169.254.')
    })
    .map(({ address }) => address)
  const address = addresses.find((one) => PRIVATE.test(one)) ?? addresses[0]
  if (address === undefined) {
    throw new Error(
      '--lan needs a network: this computer has no address in one. Connect it, or start without --lan',
    )
  }
  return address
}

/** The URL as others in the network reach it. */
export function atAddress(url: string, address: string): string {
  return url.replace('//0.0.0.0:', `//${address}:`)
}

/** The text that the start prints: the console's address as a QR code, and a warning of plain HTTP. */
export function lanWelcome(consoleUrl: string): string {
  const connect = `${consoleUrl}/connect`
  return `
  In this network the console is at ${consoleUrl}/
  To connect a phone, scan this with its camera, or open ${connect}:

${renderUnicodeCompact(connect, { border: 2 })}

  This is plain HTTP: whoever is in this network can read passwords, keys and positions on their
  way. Use it only where you trust everybody; docs/operations.md has the way to HTTPS.

`
}
