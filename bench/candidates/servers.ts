import { startKafka } from '../../test/services/kafka-server.ts'
import { startMongodb } from '../../test/services/mongodb-server.ts'
import { startSchemaRegistry } from '../../test/services/schema-registry-server.ts'
import { beginTestRun, endTestRun } from '../../test/services/test-run.mjs'

/** Kafka, a schema registry and a MongoDB server, as the tests start them. */
export type Servers = {
  readonly brokers: readonly string[]
  readonly registryUrl: string
  /** The connection string of the database with that name. */
  readonly mongodbUrl: (database: string) => string
  readonly stop: () => Promise<void>
}

export async function startServers(): Promise<Servers> {
  beginTestRun()
  const starting = [
    startKafka({ isMeasured: true }),
    startSchemaRegistry(),
    startMongodb(),
  ] as const
  const stop = async () => {
    const started = await Promise.allSettled(starting)
    for (const one of started) if (one.status === 'fulfilled') await one.value.kill()
    await endTestRun()
  }
  try {
    const [kafka, registry, mongodb] = await Promise.all(starting)
    return {
      brokers: kafka.brokers,
      registryUrl: registry.url,
      mongodbUrl: (database) => mongodb.url.replace('/?', `/${database}?`),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}
