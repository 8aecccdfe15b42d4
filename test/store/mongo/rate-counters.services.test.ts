import { expect } from '@jest/globals'
import type { RateCounters } from '../../../runtime/limits/rate-counters.ts'
import { openMongoRateCounters } from '../../../store/mongo/rate-counters.ts'
import { eventually } from '../../eventually.ts'
import { describeWith } from '../../services/describe-with.ts'
import { mongoSuite, silent } from './database.ts'
import { flakyProxy, type FlakyProxy } from './flaky-proxy.ts'

/** A server on a busy machine may need longer than callers have. */
const PATIENT = { answerMs: 30_000 }

await describeWith(['mongodb'], 'rate counters in MongoDB', ({ mongodb }) => {
  /** Counters of two instances, of which the second is behind a proxy. */
  function promise(
    sentence: string,
    run: (
      one: RateCounters,
      two: RateCounters,
      way: FlakyProxy,
      shared: () => boolean,
    ) => Promise<void>,
    { seconds = 60, ...options }: { seconds?: number; answerMs?: number } = {},
  ): void {
    mongoSuite(mongodb).promise(sentence, async ({ url }) => {
      const way = await flakyProxy(url)
      const instances = [url, way.url].map((one) =>
        openMongoRateCounters({ url: one, logger: silent, ...options }),
      )
      const [one, two] = instances.map(({ open }) => open({ kind: 'device', seconds }))
      const shared = () => instances.every((instance) => instance.shared())
      await eventually(shared)
      await run(one as RateCounters, two as RateCounters, way, shared)
      await way.become('pass')
      await Promise.all(instances.map((instance) => instance.close()))
      await way.close()
    })
  }

  const consumed = async (counters: RateCounters, name: string, points = 1) =>
    (await counters.add(name, points)).consumedPoints

  promise(
    'counters are shared between processes, each name separately',
    async (one, two) => {
      expect(await two.get('acc-1/tug')).toBeUndefined()
      expect(await consumed(one, 'acc-1/tug', 3)).toBe(3)
      expect(await consumed(two, 'acc-1/tug')).toBe(4)
      expect(await consumed(two, 'acc-1/barge')).toBe(1)
      expect(await one.get('acc-1/tug')).toMatchObject({ consumedPoints: 4 })
      const all = await Promise.all(
        Array.from({ length: 30 }, (_, n) => consumed(n % 2 === 0 ? one : two, 'acc-1/van')),
      )
      expect(Math.max(...all)).toBe(30)
    },
    PATIENT,
  )

  promise(
    'counters restart when their window is over',
    async (one, two) => {
      await one.add('tug', 5)
      await eventually(async () => (await two.get('tug')) === undefined)
      expect(await consumed(two, 'tug')).toBe(1)
    },
    { seconds: 1, ...PATIENT },
  )

  for (const mode of ['silent', 'refuse', 'deaf'] as const) {
    promise(
      `counters work in memory while the server is ${mode}, without delay, and are shared again afterwards`,
      async (one, two, way, shared) => {
        await two.add('tug', 7)
        await way.become(mode)
        const started = performance.now()
        expect(await consumed(two, 'tug')).toBe(1)
        expect(performance.now() - started).toBeLessThan(1_500)
        for (let n = 2; n <= 20; n += 1) expect(await consumed(two, 'tug')).toBe(n)
        // Only the first had to wait for the timeout.
        expect(performance.now() - started).toBeLessThan(2_500)
        expect(await two.get('tug')).toMatchObject({ consumedPoints: 20 })
        await way.become('pass')
        let names = 0
        await eventually(async () => {
          await eventually(shared)
          const name = `barge ${(names += 1)}`
          await one.add(name, 2)
          return (await consumed(two, name)) === 3
        })
      },
    )
  }
})
