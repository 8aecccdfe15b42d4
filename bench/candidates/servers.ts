import { startKafka } from '../../test/services/kafka-server.ts'
import { startMongodb } from '../../test/services/mongodb-server.ts'
import type { OwnServer } from '../../test/services/own-server.ts'
import { startSchemaRegistry } from '../../test/services/schema-registry-server.ts'
import { beginTestRun, endTestRun } from '../../test/services/test-run.mjs'

/** Kafka, a schema registry and a MongoDB server, as the tests start them. */
export type Servers = {
  readonly brokers: readonly string[]
  readonly registryUrl: string
  /** The connection string of the database with that name. */
  mongodbUrl(database: string): string
  stop(): Promise<void>
}

export async function startServers(): Promise<Servers> {
  beginTestRun()
  const started: OwnServer[] = []
  const keep = async <S extends OwnServer>(starting: Promise<S>): Promise<S> => {
    const server = await starting
    started.push(server)
    return server
  }
  const stop = async () => {
    await Promise.all(started.map((server) => server.kill()))
    await endTestRun()
  }
  try {
    const [kafka, registry, mongodb] = await Promise.all([
      keep(startKafka({ isMeasured: true })),
      keep(startSchemaRegistry()),
      keep(startMongodb()),
    ])
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
