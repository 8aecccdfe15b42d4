import { afterAll, expect, test } from '@jest/globals'
import type { Admin } from 'kafkajs'
import { adminReader } from '../admin-reader.ts'
import { startDistributedDeployment, type Deployment } from '../deployments.ts'
import { createTopic, plainKafka } from '../event-log/kafka/harness.ts'
import { eventually } from '../eventually.ts'
import { startProgram } from '../programs.ts'
import type { RunningProgram } from '../running-programs.ts'
import { describeWith } from '../services/describe-with.ts'
import { urlOfDatabase } from '../store/mongo/database.ts'

/** So many that every partition is reported to. */
const DEVICES = Array.from({ length: 60 }, (_, number) => `tracker-${number}`)
const SOON = { withinMs: 60_000, everyMs: 100 }
/** The read models' event and that of the log, or where the log ends; and the way out. */
const OTHER_LOG = new RegExp(
  'the read models were built from another log: ' +
    '(at offset \\d+ of partition \\d+ stands event \\w+, but event \\w+ was applied there|' +
    'partition \\d+ ends before offset \\d+, but event \\w+ at offset \\d+ was applied)' +
    '.*npm run rebuild -- --force',
)

await describeWith(['kafka', 'mongodb'], 'a topic deleted and made again', (services) => {
  const { brokers, topicPrefix } = services.kafka
  const mongodbUrl = urlOfDatabase(services.mongodb.url, services.mongodb.database)
  const env = {
    KAFKA_BROKERS: brokers.join(','),
    KAFKA_TOPIC_PREFIX: topicPrefix,
    MONGODB_URL: mongodbUrl,
  }
  const closers: (() => Promise<unknown>)[] = []

  afterAll(async () => {
    for (const close of closers.reverse()) await close()
  })

  test('stops the projector, which names both logs and the way out; the way out works', async () => {
    const service = await startDistributedDeployment({ brokers, topicPrefix, mongodbUrl })
    closers.push(() => service.remove())
    const reader = adminReader(service)
    const counts = async () =>
      Object.fromEntries(
        (await reader.devices()).map(({ deviceId, reportCount }) => [deviceId, reportCount]),
      )
    const each = (count: number) => Object.fromEntries(DEVICES.map((device) => [device, count]))
    for (let round = 0; round < 3; round += 1) await reportAll(service)
    await eventually(async () => expect(await counts()).toEqual(each(3)) ?? true, SOON)

    await recreateTopic()
    await reportAll(service)
    const [, projector] = service.programs as [RunningProgram, RunningProgram, RunningProgram]
    expect(await projector.ended).toBe(1)
    expect(projector.output()).toMatch(OTHER_LOG)
    const again = startProjector()
    expect(await again.ended).toBe(1)
    expect(again.output()).toMatch(OTHER_LOG)
    expect(await counts()).toEqual(each(3))

    const refused = rebuild()
    expect(await refused.ended).toBe(1)
    expect(refused.output()).toContain('Not begun: ')
    expect(refused.output()).toContain('npm run rebuild -- --force')
    const forced = rebuild('--force')
    expect([await forced.ended, forced.output()]).toEqual([
      0,
      expect.stringContaining('Generation 3 is in use, generation 1 is removed'),
    ])
    startProjector()
    await reportAll(service)
    await eventually(async () => expect(await counts()).toEqual(each(2)) ?? true, SOON)
  }, 240_000)

  function startProjector(): RunningProgram {
    const program = startProgram('projector/main', { env: { ...env, PROJECTOR_PORT: '0' } })
    closers.push(() => {
      program.process.kill('SIGKILL')
      return program.ended
    })
    return program
  }

  function rebuild(...args: string[]): RunningProgram {
    return startProgram('commands/rebuild/main', { args, env })
  }

  /** One report of each device, again until it is accepted. */
  async function reportAll({ ingestUrl, key }: Deployment): Promise<void> {
    const timestamp = new Date().toISOString()
    await Promise.all(
      DEVICES.map((deviceId) =>
        eventually(async () => {
          const answer = await fetch(`${ingestUrl}/api/v1/gps/submit`, {
            method: 'POST',
            headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
            body: JSON.stringify({ deviceId, latitude: 48.1, longitude: 11.5, timestamp }),
          })
          return answer.status === 200
        }, SOON),
      ),
    )
  }

  async function recreateTopic(): Promise<void> {
    const topic = `${topicPrefix}.position-reported`
    const admin: Admin = plainKafka(brokers).admin()
    await admin.connect()
    await admin.deleteTopics({ topics: [topic] })
    await eventually(async () => !(await admin.listTopics()).includes(topic), SOON)
    await admin.disconnect()
    await createTopic(brokers, { topic, numPartitions: 12 })
  }
})
