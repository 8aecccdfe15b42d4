import type { Config } from '../runtime/config/config.ts'
import { hostInUrl } from '../runtime/http/http-server.ts'

/** The addresses of the ingest API. */
export type IngestAddresses = {
  /**
   * The address shown to senders; undefined if this process does not know the port. `asked`: the
   * host that the caller used to reach this API, for an ingest API that listens on every address.
   */
  forSenders(asked: string): string | undefined
  /** The address to which this process sends test reports; never taken from a request. */
  readonly internal?: string
  /** Marks those test reports, if the ingest API is in this process. */
  readonly testSecret?: string
}

const EVERY_ADDRESS = /^http:\/\/(0\.0\.0\.0|\[::\])(?=:)/

/** An ingest API in this process. */
export type OwnIngest = { readonly url: string; readonly testSecret: string }

/**
 * `own`: the ingest API in this process; without it, the ingest API runs elsewhere, on the usual
 * port.
 */
export function ingestAddresses(
  {
    host,
    ingestPort,
    ingestPublicUrl,
    ingestInternalUrl,
  }: Pick<Config, 'host' | 'ingestPort' | 'ingestPublicUrl' | 'ingestInternalUrl'>,
  own: OwnIngest | undefined,
): IngestAddresses {
  const bound =
    own?.url ?? (ingestPort === 0 ? undefined : `http://${hostInUrl(host)}:${ingestPort}`)
  const internal =
    ingestInternalUrl ??
    bound?.replace(EVERY_ADDRESS, (_, host) => `http://${host === '[::]' ? '[::1]' : '127.0.0.1'}`)
  return {
    forSenders: (asked) =>
      ingestPublicUrl ?? bound?.replace(EVERY_ADDRESS, () => `http://${parseClaimedHost(asked)}`),
    ...(internal !== undefined && { internal }),
    ...(own !== undefined && { testSecret: own.testSecret }),
  }
}

/** Whether only this machine can reach the address. */
export function isLoopback(url: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname)
}

/** A host as claimed by a client. */
function parseClaimedHost(asked: string): string {
  const url = URL.canParse(`http://${asked}`) ? new URL(`http://${asked}`) : undefined
  const isHost = url?.host === asked.toLowerCase() && !/^(0\.0\.0\.0|\[::\])$/.test(url.host)
  return isHost ? url.host : 'localhost'
}
