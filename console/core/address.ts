/**
 * Addresses below a base, for a console that a proxy serves under a prefix. Paths of the console
 * and of its API start at `/`, with or without a prefix.
 */
export function addressesBelow(base: string) {
  const { pathname } = new URL(base)
  return {
    /** The address of a path: `/keys` → `/gps/keys`. */
    of: (path: string): string => pathname + path.slice(1),
    /** The path at an address: `/gps/keys` → `/keys`; undefined outside the console. */
    pathAt(address: string): string | undefined {
      return address.startsWith(pathname) ? address.slice(pathname.length - 1) : undefined
    },
  }
}

/** The addresses of this console, from the base of its page. Node has no page. */
export const addresses = addressesBelow(
  (globalThis as { document?: { baseURI: string } }).document?.baseURI ?? 'http://localhost/',
)
export const addressOf = addresses.of

/** Whether a host is this computer, which no phone reaches under this name. */
export function isLocalHost(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127\..*|\[::1\])$/.test(hostname)
}

/** The path of a device's page. */
export function devicePath(deviceId: string): string {
  return `/devices/${encodeURIComponent(deviceId)}`
}

/** The path of a key's page. */
export function keyPath(keyId: string): string {
  return `/keys/${encodeURIComponent(keyId)}`
}

/**
 * The parameters of a path for a pattern with `:name`: `matchPath('/devices/:deviceId',
 * '/devices/a%2Fb')` returns `{ deviceId: 'a/b' }`. Undefined if the path does not match;
 * `unreadable` if its percent-encoding is broken.
 */
export function matchPath(
  pattern: string,
  path: string,
): Readonly<Record<string, string>> | 'unreadable' | undefined {
  const patternParts = pattern.split('/')
  const pathParts = path.replace(/(?<=.)\/$/, '').split('/')
  if (patternParts.length !== pathParts.length) return undefined
  const parameters: Record<string, string> = {}
  for (const [index, part] of patternParts.entries()) {
    const text = pathParts[index] ?? ''
    if (!part.startsWith(':')) {
      if (part !== text) return undefined
      continue
    }
    const decoded = decode(text)
    if (decoded === undefined || decoded === '') return 'unreadable'
    parameters[part.slice(1)] = decoded
  }
  return parameters
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
