import { lookup as lookUpName } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import type { LookupAddress } from 'node:dns'
import { promisify } from 'node:util'

const TIMEOUT_MS = 2_000
const TRIES = 2
/** Fewer than libuv has threads: in the embedded process those also decompress the devices' requests. */
const MOST_ON_THREADS = 2

export type ResolveName = (name: string) => Promise<readonly LookupAddress[]>

/**
 * Every address of a name. Asks DNS without one of libuv's threads, which a slow server would hold; only a name that
 * DNS does not know is looked up as the system does, in its file of hosts and elsewhere.
 */
export function nameResolver(): ResolveName {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES })
  const lookUp = promisify(lookUpName)
  let onThreads = 0

  return async function resolveName(name) {
    const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    const addresses = found.flatMap((result, place) =>
      result.status === 'fulfilled'
        ? result.value.map((address) => ({ address, family: place === 0 ? 4 : 6 }))
        : [],
    )
    if (addresses.length > 0) return addresses
    if (onThreads >= MOST_ON_THREADS) throw Object.assign(new Error('busy'), { code: 'EAI_AGAIN' })
    onThreads += 1
    try {
      return await lookUp(name, { all: true })
    } finally {
      onThreads -= 1
    }
  }
}
