import { beforeAll, expect, test } from '@jest/globals'
import { closeAfterwards } from '../closing.ts'
import { operatorEnv, ready } from '../deployments.ts'
import { eventually } from '../eventually.ts'
import { newApiKey } from '../../schemas/access/api-key.ts'
import { listens, startProgram } from '../programs.ts'
import { describeWith } from '../services/describe-with.ts'
import { flakyProxy } from '../store/mongo/flaky-proxy.ts'
import { logLines, type LogLine } from './log-lines.ts'

const SOON = { withinMs: 60_000, everyMs: 200 }
const PARTS = [
  ['ingest-api', 'ingest API'],
  ['projector', 'projector'],
  ['admin-api', 'admin API'],
] as const
const BEGINS = /unavailable; retrying$/
const IS_OVER = /available again$/

await describeWith(['ownKafka', 'ownMongodb'], 'an outage in the middle', (services) => {
  /** Each part's lines since the outage started, in the order of `PARTS`. */
  let logged: LogLine[][]

  beforeAll(async () => {
    const [kafka, mongodb] = await Promise.all([services.ownKafka(), services.ownMongodb()])
    closeAfterwards(() => Promise.all([kafka.kill(), mongodb.kill()]))
    const proxy = await flakyProxy(mongodb.url)
    closeAfterwards(() => proxy.close())
    const env = {
      ...operatorEnv(),
      INGEST_PORT: '0',
      ADMIN_PORT: '0',
      PROJECTOR_PORT: '0',
      LOG_LEVEL: 'debug',
      RATE_LIMIT_AUTH: 'off',
      KAFKA_BROKERS: kafka.brokers.join(','),
      MONGODB_URL: proxy.url,
    }
    const parts = await Promise.all(PARTS.map((names) => startPart(names, env)))
    const before = parts.map(({ lines }) => lines().length)
    await Promise.all([kafka.kill(), proxy.become('refuse')])
    await Promise.all(parts.map(({ logs }) => logs(BEGINS, 2)))
    for (let time = 0; time < 3; time += 1) await Promise.all(parts.map(({ call }) => call()))
    await Promise.all([kafka.restart(), proxy.become('pass')])
    await Promise.all(parts.map(({ logs, url }) => logs(IS_OVER, 2).then(() => ready(url))))
    logged = parts.map(({ lines }, part) => lines().slice(before[part]))
  })

  test.each(PARTS.map(([name], part) => [name, part] as const))(
    '%s logs one line when it starts and one when it is over, for each server',
    (_name, part) => {
      const lines = logged[part] ?? []
      // A long outage is logged once a minute, with its duration.
      const severe = lines
        .filter(({ level, seconds }) => Number(level) >= 40 && seconds === undefined)
        .map(({ variable, msg }) => `${String(variable)}: ${String(msg)}`)
      expect(severe.sort()).toEqual([
        'KAFKA_BROKERS: Kafka is unavailable; retrying',
        'MONGODB_URL: MongoDB is unavailable; retrying',
      ])
      expect(lines.filter(({ msg }) => IS_OVER.test(String(msg)))).toHaveLength(2)
    },
  )
})

/**
 * Starts a part and waits until it is ready; `logs` calls it until it has logged a message this
 * many times.
 */
async function startPart(
  [part, what]: (typeof PARTS)[number],
  env: Readonly<Record<string, string>>,
) {
  const running = startProgram(`${part}/main`, { env })
  const url = await listens(running, what)
  await ready(url)
  const lines = () => logLines(running)

  async function call(): Promise<void> {
    // An unknown key is looked up in the store.
    const headers = { Authorization: `Bearer ${newApiKey()}` }
    await Promise.all([
      fetch(`${url}/readyz`),
      fetch(`${url}/api/v1/gps/submit`, { method: 'POST', headers }),
      fetch(`${url}/api/v1/devices`, { headers }),
    ])
  }

  const logs = (text: RegExp, times: number) =>
    eventually(async () => {
      await call()
      return lines().filter(({ msg }) => text.test(String(msg))).length >= times
    }, SOON)
  return { url, lines, call, logs }
}
