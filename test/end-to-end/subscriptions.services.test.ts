import { randomBytes } from 'node:crypto'
import { afterAll, expect, test } from '@jest/globals'
import { startReceiver } from '../deliverer/harness.ts'
import { ready, signIn, startDistributedDeployment, submitTo } from '../deployments.ts'
import { eventually } from '../eventually.ts'
import { listens, startProgram } from '../programs.ts'
import { describeWith } from '../services/describe-with.ts'
import { urlOfDatabase } from '../store/mongo/database.ts'

await describeWith(['kafka', 'mongodb'], 'two deliverers on Kafka and MongoDB', (services) => {
  const ends: (() => unknown)[] = []

  afterAll(async () => {
    for (const end of ends.reverse()) await end()
  })

  test('every fact and position arrives in order while each deliverer is killed one after another; repeats have the same id', async () => {
    const { brokers, topicPrefix } = services.kafka
    const mongodbUrl = urlOfDatabase(services.mongodb.url, services.mongodb.database)
    const env = {
      SECRETS_KEY: randomBytes(32).toString('base64'),
      WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8',
    }
    const running = await startDistributedDeployment({ brokers, topicPrefix, mongodbUrl, env })
    ends.push(() => running.remove())
    const startDeliverer = async () => {
      const deliverer = startProgram('deliverer/main', {
        env: {
          KAFKA_BROKERS: brokers.join(','),
          KAFKA_TOPIC_PREFIX: topicPrefix,
          MONGODB_URL: mongodbUrl,
          DELIVERER_PORT: '0',
          ...env,
        },
      })
      ends.push(() => deliverer.process.kill('SIGKILL'))
      await ready(await listens(deliverer, 'deliverer'))
      return deliverer
    }
    const receivers = { facts: await startReceiver(), positions: await startReceiver() }
    const operator = await signIn(running.adminUrl)
    for (const source of ['facts', 'positions'] as const) {
      const target = { kind: 'webhook', url: receivers[source].url }
      await operator.call('POST', '/subscriptions', { name: source, source, target })
    }
    const deliverers = [await startDeliverer(), await startDeliverer()]
    const recordIds: string[] = []
    for (const round of [0, 1, 2]) {
      for (let n = 0; n < 10; n += 1) {
        const report = { deviceId: `van-${n}`, latitude: 52 + round, longitude: n }
        const { status, recordId = '' } = await submitTo(running.ingestUrl, running.key, report)
        expect(status).toBe(200)
        recordIds.push(recordId)
      }
      const victim = deliverers[round]
      if (victim === undefined) continue
      victim.process.kill('SIGKILL')
      await victim.ended
      deliverers.push(await startDeliverer())
    }
    const idsOf = (source: 'facts' | 'positions') => receivers[source].ids().flat()
    await eventually(() => new Set(idsOf('positions')).size === 30, { withinMs: 120_000 })
    await eventually(() => new Set(idsOf('facts')).size === 10, { withinMs: 60_000 })
    expect([...new Set(idsOf('positions'))].sort()).toEqual([...recordIds].sort())
    // Each of the three killed deliverers repeats at most the request in flight.
    expect(idsOf('positions').length).toBeLessThanOrEqual(33)
    expect(idsOf('facts').length).toBeLessThanOrEqual(13)
    for (let n = 0; n < 10; n += 1) {
      const own = receivers.positions.received
        .filter(({ json }) => json.data['deviceId'] === `van-${n}`)
        .map(({ json }) => json.data['latitude'])
      expect(own.filter((latitude, at) => latitude !== own[at - 1])).toEqual([52, 53, 54])
    }
  })
})
