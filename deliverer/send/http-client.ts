import type { LookupFunction } from 'node:net'
import { Agent, ProxyAgent, request, type Dispatcher } from 'undici'
import {
  addressFault,
  addressIn,
  outboundUrlFault,
  type OutboundNetworks,
} from '../../runtime/outbound/outbound-url.ts'
import { parseRetryAfter } from '../retry-schedule.ts'
import { InterimAnswersError, requestFailure, RefusedAddressError } from './failure.ts'
import { firstBytes } from './first-bytes.ts'
import { nameResolver, type ResolveName } from './resolve-name.ts'

const ANSWERS_WITHIN_MS = 15_000
/** A receiver may send interim answers (1xx) before its answer, but not without end. */
const MOST_INTERIM_ANSWERS = 100
/** Idle connections are not kept for the next delivery, which may be hours later. */
const KEEP_ALIVE_MS = 10_000

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
  const agents =
    proxy === undefined
      ? { 'http:': checkedAgent('http:'), 'https:': checkedAgent('https:') }
      : proxied(new ProxyAgent({ uri: proxy, keepAliveTimeout: KEEP_ALIVE_MS }))

  function checkedAgent(protocol: 'http:' | 'https:'): Dispatcher {
    const lookup: LookupFunction = (name, options, callback) => {
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
      connect: { lookup, timeout: answersWithinMs },
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

function proxied(agent: Dispatcher): Record<'http:' | 'https:', Dispatcher> {
  return { 'http:': agent, 'https:': agent }
}
