import { lookup, type LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { Agent, request as requestHttp, type IncomingMessage } from 'node:http'
import { Agent as TlsAgent, request as requestHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import {
  addressFault,
  parseAddress,
  outboundUrlFault,
  type OutboundNetworks,
} from '../../runtime/outbound/outbound-url.ts'
import { proxyAgents } from './proxy-agents.ts'
import { EndedRequestError, requestFailure } from './request-failure.ts'
import type { OutboundRequest } from '../../schemas/subscriptions/messages.ts'

const ANSWERS_WITHIN_MS = 15_000
/** A receiver may send interim responses (1xx) before the final one, but not without end. */
const MOST_INTERIM_ANSWERS = 100
const ENDLESS = 'too many interim responses (1xx) before a response'
/** Idle connections are not kept open for the next delivery, which may be hours later. */
const KEEP_ALIVE_MS = 10_000

const RESOLVES_WITHIN_MS = 2_000
const RESOLVING_TRIES = 2
/**
 * Fewer than libuv's threads: in the embedded process these also decompress the devices' requests.
 */
const MOST_ON_THREADS = 2

const KEPT_BYTES = 1_024
/** Read to keep the connection open; if the body is longer, the connection is closed. */
const MOST_BYTES = 64 * 1_024
/** The status has arrived: the body is only for operators. */
const BODY_WITHIN_MS = 2_000

/** The outcome of a request. Neither text contains any part of the URL except its host. */
export type Answer = {
  /** Status of the response; absent if there was none. */
  readonly status?: number
  /** The reason for a missing response, or the target of a redirect. */
  readonly failure?: string
  readonly retryAfterMs?: number | undefined
  /** The start of the response body. */
  readonly text: string
  readonly milliseconds: number
}

export type HttpClient = {
  /** Posts once; never rejects. Redirects are ordinary responses. */
  post(request: OutboundRequest): Promise<Answer>
  close(): Promise<void>
}

/**
 * Posts to URLs that operators have entered, and to nothing else in this network: see
 * `addressFault`. Every name is resolved when connecting, and the connection uses an address that
 * was checked. `proxy`: resolves the names instead of this process.
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
  const kept = { keepAlive: true, timeout: KEEP_ALIVE_MS }
  const agents =
    proxy === undefined
      ? {
          'http:': new Agent({ ...kept, lookup: checkLookup('http:') }),
          'https:': new TlsAgent({ ...kept, lookup: checkLookup('https:') }),
        }
      : proxyAgents(new URL(proxy), { ...kept, withinMs: answersWithinMs })

  function checkLookup(protocol: 'http:' | 'https:'): LookupFunction {
    return (name, options, callback) => {
      resolveName(name).then(
        (addresses) => {
          const [first] = addresses
          const fault = addresses
            .map(({ address }) => addressFault({ protocol }, address, networks))
            .find((one) => one !== undefined)
          if (fault !== undefined) callback(new EndedRequestError(`the URL ${fault}`), '')
          else if (first === undefined) callback(new EndedRequestError('no such host'), '')
          else if (options.all === true) callback(null, [...addresses])
          else callback(null, first.address, first.family)
        },
        (error: unknown) => callback(error as Error, ''),
      )
    }
  }

  /** The final response, after interim ones (1xx), without its body. */
  function firstAnswer(
    url: URL,
    { headers, body }: Pick<OutboundRequest, 'headers' | 'body'>,
  ): Promise<IncomingMessage> {
    const isTls = url.protocol === 'https:'
    const agent = agents[isTls ? 'https:' : 'http:']
    const request = (isTls ? requestHttps : requestHttp)(url, { method: 'POST', headers, agent })
    const end = (reason: string) => request.destroy(new EndedRequestError(reason))
    const late = `no response within ${answersWithinMs / 1_000} s`
    const timer = setTimeout(() => end(late), answersWithinMs)
    let interim = 0
    request.on('information', () => {
      interim += 1
      if (interim > MOST_INTERIM_ANSWERS) end(ENDLESS)
    })
    return new Promise<IncomingMessage>((resolve, reject) => {
      request.once('response', resolve).on('error', reject).end(body)
    }).finally(() => clearTimeout(timer))
  }

  async function exchange({ url: text, headers, body }: OutboundRequest) {
    const url = new URL(text)
    // A connection to an address needs no name look-up.
    const address = parseAddress(url)
    const fault =
      address === undefined
        ? outboundUrlFault(text, networks)
        : addressFault(url, address, networks)
    if (fault !== undefined) throw new EndedRequestError(`the URL ${fault}`)
    const answer = await firstAnswer(url, { headers, body })
    const { statusCode: status = 0, headers: answered } = answer
    const failure = redirectText(status, url, answered.location)
    return {
      status,
      ...(failure !== undefined && { failure }),
      retryAfterMs: parseRetryAfter(answered['retry-after'], now()),
      text: await firstBytes(answer),
    }
  }

  return {
    async post(outbound) {
      const begun = performance.now()
      const outcome = await exchange(outbound).catch((error: unknown) => ({
        failure: requestFailure(error),
        text: '',
      }))
      return { ...outcome, milliseconds: Math.round(performance.now() - begun) }
    },

    async close() {
      for (const agent of Object.values(agents)) agent.destroy()
    },
  }
}

export type ResolveName = (name: string) => Promise<readonly LookupAddress[]>

/**
 * Resolves a name to all its addresses. Queries DNS without libuv's threads, which a slow server
 * would block; only names unknown to DNS go to the system's resolver, with its hosts file.
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

/** Reads the start of a body. Closes bodies that are endless or stall. */
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
    // The part that has arrived is used.
  } finally {
    clearTimeout(timer)
    body.destroy()
  }
  return new TextDecoder().decode(Buffer.concat(kept)).replace(/\uFFFD$/, '')
}

/** A segment of a path that is a word, and so no secret. */
const WORD = /^([a-z_-]{1,16}(\.[a-z]{1,4})?)?$/i

/**
 * Describes a redirect's target, so that operators can enter that URL instead. Includes only words
 * of the target's path, and none from the request's path.
 */
function redirectText(status: number, url: URL, location: string | undefined): string | undefined {
  if (status < 300 || status > 399 || location === undefined) return undefined
  if (!URL.canParse(location, url.href)) return undefined
  const { origin, pathname, protocol } = new URL(location, url)
  if (protocol !== 'https:' && protocol !== 'http:') return undefined
  const own = url.pathname.split('/').filter(Boolean)
  const shown = pathname
    .split('/')
    .map((segment) => (WORD.test(segment) && !own.includes(segment) ? segment : '…'))
  return `status ${status}, a redirect to ${origin}${shown.join('/')}: enter the URL that it leads to`
}

/**
 * A `Retry-After` header in milliseconds: seconds, also with a fraction, or a date. Undefined for
 * anything else.
 */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined
  if (/^\d{1,9}(\.\d{1,9})?$/.test(header.trim())) return Math.ceil(Number(header) * 1_000)
  const date = /[A-Za-z]/.test(header) ? Date.parse(header) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
