import { lookup, type LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { Agent, ProxyAgent, request } from 'undici'
import {
  addressFault,
  addressIn,
  outboundUrlFault,
  type OutboundNetworks,
} from '../../runtime/outbound/outbound-url.ts'

const ANSWERS_WITHIN_MS = 15_000
/** A receiver may send interim answers (1xx) before its answer, but not without end. */
const MOST_INTERIM_ANSWERS = 100
/** Idle connections are not kept for the next delivery, which may be hours later. */
const KEEP_ALIVE_MS = 10_000

const RESOLVES_WITHIN_MS = 2_000
const RESOLVING_TRIES = 2
/** Fewer than libuv has threads: in the embedded process those also decompress the devices' requests. */
const MOST_ON_THREADS = 2

const KEPT_BYTES = 1_024
/** Read to keep the connection open; beyond this length it is closed. */
const MOST_BYTES = 64 * 1_024
/** The status has arrived: the body is only for operators to look at. */
const BODY_WITHIN_MS = 2_000

export type OutboundRequest = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The outcome of a request. Neither text has anything of the URL but its host. */
export type Answer = {
  /** Absent: there was no answer. */
  readonly status?: number
  /** Why there was none. */
  readonly failure?: string
  readonly retryAfterMs?: number | undefined
  /** The beginning of the answer's body. */
  readonly text: string
  readonly milliseconds: number
}

export type HttpClient = {
  /** Posts once; never rejects. Redirects are answers like others. */
  post(request: OutboundRequest): Promise<Answer>
  close(): Promise<void>
}

/**
 * Posts to URLs that operators have entered, and to nothing else of this network: see `addressFault`. Every name is
 * resolved when it is connected to, and the connection goes to an address that was checked. `proxy`: it resolves
 * the names in place of this process.
 */
export function httpClient({
  networks,
  proxy,
  resolveName = nameResolver(),
  now = () => Date.now(),
  answersWithinMs = ANSWERS_WITHIN_MS,
}: {
  networks: OutboundNetworks
  proxy?: string | undefined
  resolveName?: ResolveName
  now?: () => number
  answersWithinMs?: number
}): HttpClient {
  const proxied =
    proxy !== undefined && new ProxyAgent({ uri: proxy, keepAliveTimeout: KEEP_ALIVE_MS })
  const agents = {
    'http:': proxied || checkedAgent('http:'),
    'https:': proxied || checkedAgent('https:'),
  }

  function checkedAgent(protocol: 'http:' | 'https:'): Agent {
    const lookUp: LookupFunction = (name, options, callback) => {
      resolveName(name).then(
        (addresses) => {
          const [first] = addresses
          const fault = addresses
            .map(({ address }) => addressFault({ protocol }, address, networks))
            .find((one) => one !== undefined)
          if (fault !== undefined) callback(new RefusedAddressError(`the URL ${fault}`), '')
          else if (first === undefined) callback(new RefusedAddressError('no such host'), '')
          else if (options.all === true) callback(null, [...addresses])
          else callback(null, first.address, first.family)
        },
        (error: unknown) => callback(error as Error, ''),
      )
    }
    return new Agent({
      connect: { lookup: lookUp, timeout: answersWithinMs },
      keepAliveTimeout: KEEP_ALIVE_MS,
    })
  }

  async function exchange({ url: text, headers, body }: OutboundRequest) {
    const url = new URL(text)
    // A connection to an address looks up no name.
    const address = addressIn(url)
    const fault =
      address === undefined
        ? outboundUrlFault(text, networks)
        : addressFault(url, address, networks)
    if (fault !== undefined) throw new RefusedAddressError(`the URL ${fault}`)
    const ending = new AbortController()
    const signal = AbortSignal.any([AbortSignal.timeout(answersWithinMs), ending.signal])
    const dispatcher = agents[url.protocol as 'http:' | 'https:']
    let interim = 0
    const onInfo = () => {
      interim += 1
      if (interim > MOST_INTERIM_ANSWERS) ending.abort(new InterimAnswersError())
    }
    const made = { method: 'POST', headers, body, dispatcher, signal, onInfo } as const
    const answer = await request(url, made)
    const retryAfter = answer.headers['retry-after']
    return {
      status: answer.statusCode,
      retryAfterMs: parseRetryAfter([retryAfter].flat()[0], now()),
      text: await firstBytes(answer.body),
    }
  }

  return {
    async post(outbound) {
      const begun = performance.now()
      const outcome = await exchange(outbound).catch((error: unknown) => ({
        failure: requestFailure(error, answersWithinMs),
        text: '',
      }))
      return { ...outcome, milliseconds: Math.round(performance.now() - begun) }
    },

    async close() {
      await Promise.all([...new Set(Object.values(agents))].map((agent) => agent.destroy()))
    },
  }
}

export type ResolveName = (name: string) => Promise<readonly LookupAddress[]>

/**
 * Every address of a name. Asks DNS without one of libuv's threads, which a slow server would hold; only a name that
 * DNS does not know is looked up as the system does, in its file of hosts and elsewhere.
 */
export function nameResolver(): ResolveName {
  const resolver = new Resolver({ timeout: RESOLVES_WITHIN_MS, tries: RESOLVING_TRIES })
  const lookUp = promisify(lookup)
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

/** The beginning of a body as text. An endless body, or one that stops halfway, is closed. */
async function firstBytes(body: Readable): Promise<string> {
  const timer = setTimeout(() => body.destroy(), BODY_WITHIN_MS)
  const kept: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      if (length < KEPT_BYTES) kept.push(chunk.subarray(0, KEPT_BYTES - length))
      length += chunk.length
      if (length > MOST_BYTES) break
    }
  } catch {
    // The part that has arrived is shown.
  } finally {
    clearTimeout(timer)
    body.destroy()
  }
  return new TextDecoder().decode(Buffer.concat(kept)).replace(/\uFFFD$/, '')
}

/** A `Retry-After` header in milliseconds: seconds, or a date. Undefined for anything else. */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1_000
  const date = /[A-Za-z]/.test(header) ? Date.parse(header) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

/** A URL leads where this process does not go; the message is for the operator. */
export class RefusedAddressError extends Error {
  override readonly name = 'RefusedAddressError'
}

/** A receiver sends interim answers (1xx) without end. */
export class InterimAnswersError extends Error {
  override readonly name = 'InterimAnswersError'
  override readonly message = 'too many interim answers (1xx) before an answer'
}

const KNOWN: Readonly<Record<string, string>> = {
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the name of the host could not be resolved',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed before an answer',
  UND_ERR_SOCKET: 'the connection was closed before an answer',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the host cannot be reached',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too large',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate cannot be verified',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host',
}

/** Why a request had no answer, in words that hold nothing of the request. */
export function requestFailure(error: unknown, withinMs: number): string {
  if (error instanceof RefusedAddressError || error instanceof InterimAnswersError) {
    return error.message
  }
  const { name, code, errors } = error as { name?: unknown; code?: unknown; errors?: unknown }
  if (name === 'TimeoutError') return `no answer within ${withinMs / 1_000} s`
  // Several addresses were tried: as the first one failed.
  if (Array.isArray(errors) && errors.length > 0) return requestFailure(errors[0], withinMs)
  if (typeof code !== 'string') return 'the request failed'
  return KNOWN[code] ?? `the request failed (${code.replace(/[^A-Z0-9_]/g, '')})`
}
