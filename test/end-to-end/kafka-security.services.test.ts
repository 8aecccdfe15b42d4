import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually } from '../eventually.ts'
import { listens, startProgram } from '../programs.ts'
import type { RunningProgram } from '../running-programs.ts'
import { ownDirectory } from '../own-directory.ts'
import { describeWith } from '../services/describe-with.ts'
import { makeKafkaSecurity, type KafkaSecurity } from '../services/kafka-security.ts'
import type { OwnServer } from '../services/own-server.ts'

await describeWith(['ownKafka'], 'a broker that asks for TLS and a sign-in', ({ ownKafka }) => {
  let folder: string
  let security: KafkaSecurity
  let broker: OwnServer & { brokers: string[] }
  let running: RunningProgram | undefined

  beforeAll(async () => {
    folder = await ownDirectory()
    security = await makeKafkaSecurity(folder)
    broker = await ownKafka({ secured: security })
  })

  afterAll(async () => {
    running?.process.kill('SIGKILL')
    await broker?.kill()
  })

  /** Starts an ingest API with these variables and returns its address. */
  async function start(changes: Record<string, string>): Promise<string> {
    running?.process.kill('SIGKILL')
    running = startProgram('ingest-api/main', {
      env: {
        INGEST_PORT: '0',
        KAFKA_BROKERS: broker.brokers.join(','),
        KAFKA_SSL: 'true',
        KAFKA_SASL_USERNAME: security.username,
        KAFKA_SASL_PASSWORD: security.password,
        NODE_EXTRA_CA_CERTS: security.certificateFile,
        // Readiness to append needs no store, so there is none.
        MONGODB_URL: 'mongodb://127.0.0.1:9',
        ...changes,
      },
    })
    return listens(running, 'ingest API')
  }

  test.each(['plain', 'scram-sha-256', 'scram-sha-512'])(
    'a broker that asks for TLS takes an ingest API that signs in with %s',
    async (mechanism) => {
      const url = await start({ KAFKA_SASL_MECHANISM: mechanism })
      await eventually(async () => (await fetch(`${url}/readyz`)).status === 200, {
        withinMs: 30_000,
        everyMs: 100,
      })
    },
  )

  test('with a wrong password the service is not ready and gives the reason without the password', async () => {
    const password = 'not-the-secret'
    const url = await start({
      KAFKA_SASL_MECHANISM: 'scram-sha-256',
      KAFKA_SASL_PASSWORD: password,
    })
    const message = await eventually(
      async () => {
        const answer = await fetch(`${url}/readyz`)
        expect(answer.status).toBe(503)
        const text = await answer.text()
        return /authentication/i.test(text) && text
      },
      { withinMs: 30_000, everyMs: 100 },
    )
    expect(message).not.toContain(password)
    expect(running?.output()).not.toContain(password)
  })
})
