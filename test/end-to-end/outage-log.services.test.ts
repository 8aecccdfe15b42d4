import { afterEach, expect, test } from '@jest/globals'
import { closeAfterwards } from '../closing.ts'
import { operatorEnv, ready } from '../deployments.ts'
import { eventually } from '../eventually.ts'
import { newApiKey } from '../../schemas/api-key.ts'
import { listens, startProgram } from '../programs.ts'
import { endPrograms } from '../running-programs.ts'
import { describeWith } from '../services/describe-with.ts'
import { flakyProxy } from '../store/mongo/flaky-proxy.ts'

const SOON = { withinMs: 60_000, everyMs: 200 }

await describeWith(['ownKafka', 'ownMongodb'], 'an outage in the middle', (services) => {
  afterEach(endPrograms)

  test.each([
    ['ingest-api', 'ingest API'],
    ['projector', 'projector'],
    ['admin-api', 'admin API'],
  ])(
    '%s logs one line when it begins and one when it is over, for each server',
    async (part, what) => {
      const kafka = await services.ownKafka()
      closeAfterwards(() => kafka.kill())
      const mongodb = await services.ownMongodb()
      closeAfterwards(() => mongodb.kill())
      const proxy = await flakyProxy(mongodb.url)
      closeAfterwards(() => proxy.close())
      const running = startProgram(`${part}/main`, {
        env: {
          ...operatorEnv(),
          INGEST_PORT: '0',
          ADMIN_PORT: '0',
          PROJECTOR_PORT: '0',
          LOG_LEVEL: 'debug',
          RATE_LIMIT_AUTH: 'off',
          KAFKA_BROKERS: kafka.brokers.join(','),
          MONGODB_URL: proxy.url,
        },
      })
      const url = await listens(running, what)
      await ready(url)
      const lines = () =>
        running
          .output()
          .split('\n')
          .filter((line) => line.startsWith('{') && line.endsWith('}'))
          .map((line) => JSON.parse(line) as Record<string, unknown>)
      const about = (text: RegExp) => lines().filter(({ msg }) => text.test(String(msg)))

      // A key that is not known is looked up in the store.
      const call = async () => {
        const headers = { Authorization: `Bearer ${newApiKey()}` }
        await Promise.all([
          fetch(`${url}/readyz`),
          fetch(`${url}/api/v1/gps/submit`, { method: 'POST', headers }),
          fetch(`${url}/api/v1/devices`, { headers }),
        ])
      }
      const logged = (text: RegExp, times: number) =>
        eventually(async () => {
          await call()
          return about(text).length >= times
        }, SOON)

      const before = lines().length
      await Promise.all([kafka.kill(), proxy.become('refuse')])
      await logged(/cannot be used, trying again$/, 2)
      for (let time = 0; time < 3; time += 1) await call()
      await Promise.all([kafka.restart(), proxy.become('pass')])
      await logged(/can be used again$/, 2)
      await ready(url)

      // A long one is repeated once a minute, with its duration.
      const severe = lines()
        .slice(before)
        .filter(({ level, seconds }) => Number(level) >= 40 && seconds === undefined)
        .map(({ variable, msg }) => `${String(variable)}: ${String(msg)}`)
      expect(severe.sort()).toEqual([
        'KAFKA_BROKERS: Kafka cannot be used, trying again',
        'MONGODB_URL: MongoDB cannot be used, trying again',
      ])
      expect(about(/can be used again$/)).toHaveLength(2)
    },
  )
})
