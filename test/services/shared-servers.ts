import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../eventually.ts'
import { startKafka } from './kafka-server.ts'
import { startMongodb } from './mongodb-server.ts'
import { startSchemaRegistry } from './schema-registry-server.ts'
import { runFolder } from './test-run.ts'

/** The address of the server shared by all suites of the run, or the reason why there is none. */
export type Shared<Address> =
  | { readonly kind: 'running'; readonly address: Address }
  | { readonly kind: 'unavailable'; readonly reason: string }

/** A broker: TEST_KAFKA_BROKERS, or one that the run starts. */
export function kafka(): Promise<Shared<string[]>> {
  const given = process.env['TEST_KAFKA_BROKERS']
  return shared('Kafka', given?.split(','), async () => {
    const server = await startKafka()
    return { address: server.brokers, guardPid: server.guardPid }
  })
}

/**
 * A schema registry's URL for Confluent clients: TEST_SCHEMA_REGISTRY_URL, or one that the run
 * starts.
 */
export function schemaRegistry(): Promise<Shared<string>> {
  return shared('the schema registry', process.env['TEST_SCHEMA_REGISTRY_URL'], async () => {
    const server = await startSchemaRegistry()
    return { address: server.url, guardPid: server.guardPid }
  })
}

/** A MongoDB server's URL: TEST_MONGODB_URL, or one that the run starts. */
export function mongodb(): Promise<Shared<string>> {
  return shared('MongoDB', process.env['TEST_MONGODB_URL'], async () => {
    const server = await startMongodb()
    return { address: server.url, guardPid: server.guardPid }
  })
}

/** The first suite that asks starts the server; suites in other workers wait for it. */
async function shared<Address>(
  name: string,
  given: Address | undefined,
  start: () => Promise<{ address: Address; guardPid: number }>,
): Promise<Shared<Address>> {
  if (given !== undefined) return { kind: 'running', address: given }
  const file = join(runFolder(), `${name}.server.json`)
  if (isFirst(`${file}.starting`)) {
    const server = await start().then(
      ({ address, guardPid }) => ({ kind: 'running', address, guardPid }),
      (error: Error) => ({ kind: 'unavailable', reason: `${name}: ${firstLine(error)}` }),
    )
    writeFileSync(`${file}.new`, JSON.stringify(server))
    renameSync(`${file}.new`, file)
  }
  // Long, because the first run downloads everything.
  await eventually(() => existsSync(file), { withinMs: 900_000, everyMs: 50 })
  return JSON.parse(readFileSync(file, 'utf8')) as Shared<Address>
}

function isFirst(folder: string): boolean {
  try {
    mkdirSync(folder)
    return true
  } catch {
    return false
  }
}

function firstLine({ message }: Error): string {
  return message.split('\n')[0] ?? ''
}
