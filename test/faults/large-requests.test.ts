import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { operatorEnv, signIn } from '../deployments.ts'
import { ownDirectory } from '../own-directory.ts'
import { startEmbedded } from '../programs.ts'
import { describeWith } from '../services/describe-with.ts'
import { startDistributedService, type DistributedService } from './distributed-service.ts'
import { isDecided, median } from './rounds.ts'
import { noteFault, SHORT } from './table.ts'

const MOST = 10
const SECONDS = 4
const PER_SECOND = 100

const GENERATOR = fileURLToPath(new URL('large-requests.mjs', import.meta.url))
const [ofReports, ofLarge] = [fork(GENERATOR), fork(GENERATOR)]

const UNLIMITED = { RATE_LIMIT_KEY: 'off', RATE_LIMIT_IMPORT: 'off' }

afterAll(() => {
  ofReports.disconnect()
  ofLarge.disconnect()
})

async function ask<T>(generator: typeof ofLarge, order: { readonly url: string }): Promise<T> {
  generator.send(order)
  const [answer] = (await once(generator, 'message')) as [{ result: T } | { failure: string }]
  if ('failure' in answer) throw new Error(answer.failure)
  return answer.result
}

type Times = { readonly p50: number; readonly p99: number }
type Round = { readonly without: Times; readonly meanwhile: Times; readonly perSecond: number }

const MOST_IMPORTS: [path: string, streams: number] = ['/api/v1/gps/import', 8]
const LARGE: (typeof MOST_IMPORTS)[] = [
  ['/api/v1/gps/import', 1],
  ['/api/v1/gps/import', 2],
  MOST_IMPORTS,
  ['/api/v1/gps/batch', 8],
]

describe('on the embedded store', () => {
  measureBesideLarge('embedded', async () =>
    startEmbedded(await ownDirectory(), { ...operatorEnv(), ...UNLIMITED }),
  )
})

await describeWith(['ownKafka', 'ownMongodb'], 'on Kafka and MongoDB', (services) => {
  let service: DistributedService | undefined
  measureBesideLarge('Kafka', async () => {
    service = await startDistributedService(services, { envOf: () => UNLIMITED })
    const { ingestUrls, adminUrl } = service
    return { ingestUrl: ingestUrls[0], adminUrl }
  })
  afterAll(() => service?.close(), 60_000)
})

/**
 * Measures response times of single reports to one process, with and without others' large
 * requests.
 */
function measureBesideLarge(
  name: string,
  start: () => Promise<{ readonly ingestUrl: string; readonly adminUrl: string }>,
): void {
  let url: string
  let keys: { reporter: string; importer: string }

  beforeAll(async () => {
    const service = await start()
    url = service.ingestUrl
    const { createKey } = await signIn(service.adminUrl)
    const scopes = ['positions:write', 'positions:import']
    keys = { reporter: (await createKey()).key, importer: (await createKey({ scopes })).key }
    await times()
  })

  /** The median and 99th percentile of single reports' response times. */
  async function times(): Promise<Times> {
    const order = { url, key: keys.reporter, perSecond: PER_SECOND, seconds: SECONDS }
    const sorted = (await ask<number[]>(ofReports, order)).sort((a, b) => a - b)
    const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0
    return { p50: at(0.5), p99: at(0.99) }
  }

  test.each(SHORT ? [MOST_IMPORTS] : LARGE)(
    'while others send 1000 points at a time to %s, %d at once, reports take at most ten times as long',
    async (path, streams) => {
      const rounds: Round[] = []
      const ratios = (share: keyof Times) =>
        rounds.map(({ without, meanwhile }) => meanwhile[share] / without[share])
      const isLow = (ratio: number) => ratio <= MOST
      while (!isDecided(ratios('p50').map(isLow), ratios('p99').map(isLow))) {
        const without = await times()
        const order = {
          url,
          key: keys.importer,
          path,
          streams,
          points: 1_000,
          seconds: SECONDS + 1,
        }
        const sending = ask<{ accepted: number; seconds: number }>(ofLarge, order)
        const meanwhile = await times()
        const { accepted, seconds } = await sending
        rounds.push({ without, meanwhile, perSecond: accepted / seconds })
      }
      const ratio = (share: keyof Times) => median(ratios(share))
      const ms = (what: 'without' | 'meanwhile', share: keyof Times) =>
        median(rounds.map((round) => round[what][share])).toFixed(1)
      noteFault(`${streams} × 1000 points to ${path}, ${name}`, {
        'p50 without, with, ratio': `${ms('without', 'p50')}, ${ms('meanwhile', 'p50')}, ${ratio('p50').toFixed(1)}`,
        'p99 without, with, ratio': `${ms('without', 'p99')}, ${ms('meanwhile', 'p99')}, ${ratio('p99').toFixed(1)}`,
        'points a second': Math.round(median(rounds.map(({ perSecond }) => perSecond))),
      })
      expect(ratio('p50')).toBeLessThanOrEqual(MOST)
      expect(ratio('p99')).toBeLessThanOrEqual(MOST)
    },
  )
}
