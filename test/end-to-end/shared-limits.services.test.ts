import { afterAll, expect, test } from '@jest/globals'
import { operatorEnv, ready, signIn, submitTo } from '../deployments.ts'
import { eventually } from '../eventually.ts'
import { listens, startProgram } from '../programs.ts'
import { endPrograms } from '../running-programs.ts'
import { describeWith } from '../services/describe-with.ts'
import { urlOfDatabase } from '../store/mongo/database.ts'

await describeWith(['kafka', 'mongodb'], 'two ingest APIs', ({ kafka, mongodb }) => {
  afterAll(endPrograms)

  test('with RATE_LIMIT_STORE=mongodb, two ingest APIs share the limits of keys and devices', async () => {
    const env = {
      ...operatorEnv(),
      KAFKA_BROKERS: kafka.brokers.join(','),
      KAFKA_TOPIC_PREFIX: kafka.topicPrefix,
      MONGODB_URL: urlOfDatabase(mongodb.url, mongodb.database),
      RATE_LIMIT_STORE: 'mongodb',
      RATE_LIMIT_KEY: '12/600',
      RATE_LIMIT_DEVICE: '5/600',
      INGEST_PORT: '0',
      ADMIN_PORT: '0',
    }
    const admin = startProgram('admin-api/main', { env })
    const ingests = [1, 2].map(() => startProgram('ingest-api/main', { env }))
    const operator = await signIn(await listens(admin, 'admin API'))
    const urls = await Promise.all(ingests.map((ingest) => listens(ingest, 'ingest API')))
    await Promise.all(urls.map(ready))

    // While MongoDB is slow to respond, as on a busy machine, each counts separately.
    let rounds = 0
    const countTogether = async () => {
      const { key } = await operator.createKey()
      const round = (rounds += 1)
      const tell = async (n: number, deviceId: string) => {
        const report = { deviceId: `${deviceId} ${round}`, latitude: 46, longitude: 14 }
        const { status, headers } = await submitTo(urls[n % 2] ?? '', key, report)
        return `${status} ${headers.get('ratelimit')?.split(';t=')[0]}`
      }
      const told: string[] = []
      for (let n = 0; n < 7; n += 1) told.push(await tell(n, 'van'))
      expect(told).toEqual([
        ...[4, 3, 2, 1, 0].map((left) => `200 "device";r=${left}`),
        ...['429 "device";r=0', '429 "device";r=0'],
      ])
      told.length = 0
      for (let n = 0; n < 6; n += 1) told.push(await tell(n, `truck-${n}`))
      expect(told.map((one) => one.slice(0, 9))).toEqual([
        ...Array<string>(5).fill('200 "key"'),
        '429 "key"',
      ])
      return true
    }
    await eventually(countTogether, { withinMs: 60_000, everyMs: 500 })
  })
})
