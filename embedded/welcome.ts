import type { NetworkInterfaceInfo } from 'node:os'
import { renderUnicodeCompact } from 'uqr'

/** The first operator's credentials, and a key for the first report. */
export type WelcomeSecrets = {
  readonly email: string
  readonly password: string
  readonly apiKey: string
}

/**
 * The text printed at the first start. These secrets are shown only here, so it goes to standard
 * output and never through the logger.
 */
export function welcome({
  secrets: { email, password, apiKey },
  consolePublicUrl,
  ...urls
}: {
  secrets: WelcomeSecrets
  ingestUrl: string
  adminUrl: string
  /** The console's URL, without a trailing slash; by default the admin API's address. */
  consolePublicUrl?: string | undefined
}): string {
  const [ingestUrl, adminUrl] = [onThisMachine(urls.ingestUrl), onThisMachine(urls.adminUrl)]
  const report = JSON.stringify({
    deviceId: 'my-first-device',
    latitude: 52.5163,
    longitude: 13.3777,
  })
  const credentials = JSON.stringify({ email, password })
  return `
  Everything is running. This is shown once: keep it.

  Your first API key      ${apiKey}
  Sign in as              ${email}
  with the password       ${password}

  1. Send a first report:

curl -X POST ${ingestUrl}/api/v1/gps/submit -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' -d '${report}'

  2. See the device:

curl -H 'Authorization: Bearer ${apiKey}' ${adminUrl}/api/v1/devices/my-first-device

  3. See it on the map: open ${consolePublicUrl ?? adminUrl}/ in a browser and sign in. With curl:

curl -c cookies.txt ${adminUrl}/api/v1/session -H 'Content-Type: application/json' -d '${credentials}'

`
}

/** Replaces the wildcard address, which containers listen on, with a usable one. */
function onThisMachine(url: string): string {
  return url.replace(/(?<=\/\/)(0\.0\.0\.0|\[::\])(?=:)/, '127.0.0.1')
}

/** The settings of `--lan`: the service listens on all addresses of this computer. */
export const LAN_SETTINGS = { HOST: '0.0.0.0' }

/** Networks inside this computer, and tunnels, which phones cannot reach. */
const NOT_LOCAL =
  /^(docker|br-|veth|virbr|vmnet|vboxnet|vEthernet|lxc|lxd|podman|cni|flannel|tun|tap|utun|wg|tailscale|zt|awdl|llw|bridge)/i
const PRIVATE = /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.)/

/**
 * The address of this computer in its router's network; addresses that only such networks use take
 * precedence.
 * @throws {Error} if it has none.
 */
export function lanAddress(
  interfaces: Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>,
): string {
  const addresses = Object.entries(interfaces)
    .filter(([name]) => !NOT_LOCAL.test(name))
    .flatMap(([, infos = []]) => infos)
    .filter(({ family, internal, address }) => {
      // 169.254: a computer to which no router has assigned an address.
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

/** The URL for other devices in the network. */
export function replaceHost(url: string, address: string): string {
  return url.replace('//0.0.0.0:', `//${address}:`)
}

/**
 * The text printed at the start: the console's address as a QR code, and a warning about plain
 * HTTP.
 */
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
