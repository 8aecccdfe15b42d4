import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Kafka, logLevel } from 'kafkajs'
import { describeWith } from '../services/describe-with.ts'
import { formatted, kafkaAnswers, newClusterId, SETTINGS } from '../services/kafka-server.ts'
import { freePort, startProcess, type OwnServer } from '../services/own-server.ts'
import { composeFile, overrideFile } from './consumers-on-compose.ts'

await describeWith(['kafka'], 'Kafka of docker-compose.yml for consumers on the host', () => {
  let server: OwnServer
  const ports = new Map<string, number>()

  beforeAll(async () => {
    for (const port of ['9092', '9093', '9094']) ports.set(port, await freePort())
    const listening = Object.entries({
      ...composeFile.services.kafka.environment,
      ...overrideFile.services.kafka.environment,
    }).filter(([name]) => /LISTENER|VOTERS/.test(name))
    const settings = listening.map(([name, value]) => [
      name.replace('KAFKA_', '').toLowerCase().replaceAll('_', '.'),
      // Here every host name means this machine.
      value
        .replace('//kafka:', '//localhost:')
        .replaceAll(/\d{4}/g, (port) => `${ports.get(port)}`),
    ])
    server = await startProcess('kafka', {}, async (dataDir) => ({
      ...(await formatted({
        dataDir,
        settings: { ...SETTINGS, ...(Object.fromEntries(settings) as Record<string, string>) },
        clusterId: newClusterId(),
      })),
      answers: () => kafkaAnswers([at('9092')]),
    }))
  })

  afterAll(() => server?.stop())

  const at = (port: string) => `localhost:${ports.get(port)}`

  test.each(['9092', '9094'])('a client that starts at port %s is sent on to it', async (port) => {
    const admin = new Kafka({ brokers: [at(port)], logLevel: logLevel.NOTHING }).admin()
    await admin.connect()
    const { brokers } = await admin.describeCluster()
    await admin.disconnect()
    expect(brokers.map((broker) => `${broker.host}:${broker.port}`)).toEqual([at(port)])
  })
})
