import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, test } from '@jest/globals'
import { MongoClient } from 'mongodb'
import { createKey, operatorEnv, ready, submitTo } from '../deployments.ts'
import { eventually } from '../eventually.ts'
import { listens, startProgram } from '../programs.ts'
import type { RunningProgram } from '../running-programs.ts'
import { describeWith } from '../services/describe-with.ts'
import { urlOfDatabase } from '../store/mongo/database.ts'
import { flakyProxy, type FlakyProxy, type Mode } from '../store/mongo/flaky-proxy.ts'

const DEADLINE_MS = 10_000
/** The first bytes, in BSON, of a request that deletes records. */
const REMOVES_RECORDS = '\u0002delete\0\u000d\0\0\0positions_g1\0'

await describeWith(['kafka', 'mongodb'], 'SIGTERM', (services) => {
  let proxy: FlakyProxy | undefined
  let programs: RunningProgram[] = []
  const mongodbUrl = urlOfDatabase(services.mongodb.url, services.mongodb.database)

  afterEach(async () => {
    for (const program of programs) program.process.kill('SIGKILL')
    await Promise.all(programs.map(({ ended }) => ended))
    await proxy?.close()
  })

  /** The three services under load; `report` sends another report and returns its status. */
  async function start({ removalHangs = false } = {}) {
    const { brokers, topicPrefix } = services.kafka
    const mongo = await flakyProxy(mongodbUrl)
    proxy = mongo
    if (removalHangs) mongo.holdRequestsWith(REMOVES_RECORDS)
    const env = {
      ...operatorEnv(),
      INGEST_PORT: '0',
      ADMIN_PORT: '0',
      PROJECTOR_PORT: '0',
      KAFKA_BROKERS: brokers.join(','),
      KAFKA_TOPIC_PREFIX: topicPrefix,
      MONGODB_URL: mongo.url,
      RETENTION_DAYS: '30',
      LOG_LEVEL: 'debug',
      SHUTDOWN_DEADLINE_MS: String(DEADLINE_MS),
    }
    const [ingest, admin] = ['ingest-api', 'admin-api'].map((name) =>
      startProgram(`${name}/main`, { env }),
    ) as [RunningProgram, RunningProgram]
    programs = [ingest, admin]
    const ingestUrl = await listens(ingest, 'ingest API')
    const adminUrl = await listens(admin, 'admin API')
    for (const url of [ingestUrl, adminUrl]) await ready(url)
    // Last: it removes records as soon as it starts, and a removal hangs no longer than its socket.
    const projector = startProgram('projector/main', { env })
    programs = [ingest, projector, admin]
    if (!removalHangs) await ready(await listens(projector, 'projector'))
    const key = await createKey(adminUrl)
    const report = async (deviceId: string) =>
      (await submitTo(ingestUrl, key, { deviceId, latitude: 48.1, longitude: 11.5 })).status
    return { mongo, report }
  }

  /** Sends SIGTERM to all; returns how each ended, and after how long. */
  function stop() {
    const begun = performance.now()
    return Promise.all(
      programs.map(async (program) => {
        program.process.kill('SIGTERM')
        const code = await program.ended
        return { code, inTime: performance.now() - begun < DEADLINE_MS, output: program.output() }
      }),
    )
  }

  test.each<Mode>(['silent', 'refuse'])(
    'every service exits with 0 within the deadline while MongoDB is away, a batch in hand or not (%s)',
    async (mode) => {
      const { mongo, report } = await start()
      expect(await report('tracker-1')).toBe(200)
      await mongo.become(mode)
      // The projector now has a batch that it cannot store.
      await eventually(async () => (await report('tracker-2')) === 200)
      if (mode === 'refuse') {
        const [, projector] = programs
        await eventually(() => projector?.output().includes('consumer paused; retrying'))
      }
      await expectStopped()
    },
  )

  test('every service exits with 0 within the deadline while retention removes records', async () => {
    const client = await MongoClient.connect(mongodbUrl)
    const old = Array.from({ length: 1_000 }, (_, number) => ({
      _id: `default/old-${number}` as never,
      accountId: 'default',
      deviceId: 'tracker-1',
      receivedAt: new Date(0),
    }))
    await client.db().collection('positions_g1').insertMany(old)
    const { mongo } = await start({ removalHangs: true })
    await eventually(() => mongo.holds(), { withinMs: 60_000 })
    await expectStopped()
    expect(await client.db().collection('positions_g1').countDocuments()).toBeGreaterThan(0)
    await client.close()
  })

  async function expectStopped(): Promise<void> {
    for (const { output, ...ended } of await stop()) {
      if (ended.code !== 0) throw new Error(output)
      expect(ended).toEqual({ code: 0, inTime: true })
    }
  }
})

await describeWith(['ownKafka', 'mongodb'], 'SIGTERM', ({ ownKafka, mongodb }) => {
  test('the ingest API exits with 0 within the deadline while Kafka is unavailable and reports are rejected', async () => {
    const kafka = await ownKafka()
    const env = {
      ...operatorEnv(),
      INGEST_PORT: '0',
      ADMIN_PORT: '0',
      KAFKA_BROKERS: kafka.brokers.join(','),
      MONGODB_URL: urlOfDatabase(mongodb.url, mongodb.database),
      LOG_LEVEL: 'debug',
      SHUTDOWN_DEADLINE_MS: String(DEADLINE_MS),
    }
    const ingest = startProgram('ingest-api/main', { env })
    const ingestUrl = await listens(ingest, 'ingest API')
    const adminUrl = await listens(startProgram('admin-api/main', { env }), 'admin API')
    for (const url of [ingestUrl, adminUrl]) await ready(url)
    const key = await createKey(adminUrl)
    // An app gets its response once its report's rejection is durable.
    const refused = async () => {
      const answer = await fetch(`${ingestUrl}/api/v1/senders/owntracks`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        body: '{"_type":"location","lat":200,"lon":1,"tst":1700000000,"tid":"aa"}',
      })
      return answer.status
    }
    expect(await refused()).toBe(200)
    await kafka.kill()
    let isSending = true
    const sending = Array.from({ length: 10 }, async (_, index) => {
      await pause(index * 500)
      while (isSending) await refused().catch(() => 0)
    })
    await eventually(() => ingest.output().includes('rejections dropped'), {
      withinMs: 30_000,
    })
    const begun = performance.now()
    ingest.process.kill('SIGTERM')
    const code = await ingest.ended
    isSending = false
    await Promise.all(sending)
    expect([code, performance.now() - begun < DEADLINE_MS]).toEqual([0, true])
    await kafka.stop()
  })
})
