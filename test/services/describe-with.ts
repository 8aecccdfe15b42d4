import { randomBytes } from 'node:crypto'
import { describe, test } from '@jest/globals'
import { containerHost } from './containers.ts'
import { startKafkaCluster } from './kafka-cluster.ts'
import { startKafka } from './kafka-server.ts'
import { startMongodb, startMongodbWithUsers } from './mongodb-server.ts'
import { startPrometheus } from './prometheus.ts'
import {
  actionlintProgram,
  apicurio,
  caddyProgram,
  jinjaTemplates,
  kafkaJars,
  kubernetesSchemas,
  mongodbProgram,
  mqttModules,
  nginxProgram,
  openapiGenerator,
  prometheusProgram,
  schemathesis,
  systemdAnalyze,
  traefikProgram,
} from './programs.ts'
import { startSchemaRegistry } from './schema-registry-server.ts'
import { kafka, mongodb, schemaRegistry, type Shared } from './shared-servers.ts'
import { noteSkipped, runFolder } from './test-run.ts'

/** A suite's access to each service it requests. */
export type Services = {
  readonly kafka: { readonly brokers: string[]; readonly topicPrefix: string }
  readonly schemaRegistry: { readonly url: string }
  readonly mongodb: { readonly url: string; readonly database: string }
  /** Starts brokers that only this suite uses, and may kill. */
  readonly ownKafka: typeof startKafka
  /** Starts three replicating brokers, each of which may be killed. */
  readonly ownKafkaCluster: typeof startKafkaCluster
  readonly ownSchemaRegistry: typeof startSchemaRegistry
  readonly ownMongodb: typeof startMongodb
  readonly mongodbWithUsers: typeof startMongodbWithUsers
  readonly schemathesis: { readonly folder: string }
  readonly kubernetesSchemas: { readonly pythonPath: string }
  readonly jinja: { readonly pythonPath: string }
  readonly mqtt: { readonly modules: string }
  readonly prometheus: typeof startPrometheus
  /** Proxies: the paths of their programs. */
  readonly nginx: string
  readonly caddy: string
  readonly traefik: string
  readonly actionlint: string
  readonly systemdAnalyze: string
  readonly openapiGenerator: { readonly jar: string; readonly pythonPath: string }
}

/**
 * A `describe` whose tests use real servers: started once by the first suite that asks, shared by
 * all, stopped at the end of the run. Topic prefix and database are this suite's own. If a server
 * is unavailable the suite is skipped, which a line at the end of the run reports; with
 * REQUIRE_SERVICES=1, and always in `npm test`, it fails. Await it at the top level of the test
 * file.
 */
export async function describeWith<Name extends keyof Services>(
  names: readonly Name[],
  suite: string,
  define: (services: Pick<Services, Name>) => void,
): Promise<void> {
  runFolder()
  const own = `test-${randomBytes(5).toString('hex')}`
  const found: Partial<Services> = {}
  for (const name of names) {
    const service = await SERVICES[name](own)
    if (service.kind === 'unavailable') {
      leaveOut(suite, service.reason)
      return
    }
    Object.assign(found, { [name]: service.address })
  }
  describe(suite, () => define(found as Pick<Services, Name>))
}

const SERVICES: { [Name in keyof Services]: (own: string) => Promise<Shared<Services[Name]>> } = {
  kafka: async (own) => map(await kafka(), (brokers) => ({ brokers, topicPrefix: own })),
  schemaRegistry: async () => map(await schemaRegistry(), (url) => ({ url })),
  mongodb: async (own) => map(await mongodb(), (url) => ({ url, database: own })),
  ownKafka: async () => startable('Kafka', startKafka, kafkaJars),
  ownKafkaCluster: async () => ofProgram('Kafka', startKafkaCluster, kafkaJars),
  ownSchemaRegistry: async () => startable('the schema registry', startSchemaRegistry, apicurio),
  ownMongodb: async () => startable('MongoDB', startMongodb, mongodbProgram),
  mongodbWithUsers: async () => ofProgram('MongoDB', startMongodbWithUsers, mongodbProgram),
  prometheus: () => ofProgram('Prometheus', startPrometheus, prometheusProgram),
  nginx: () => fetched('nginx', nginxProgram),
  caddy: () => fetched('Caddy', caddyProgram),
  traefik: () => fetched('Traefik', traefikProgram),
  systemdAnalyze: () => fetched('systemd-analyze', systemdAnalyze),
  actionlint: () => fetched('actionlint', actionlintProgram),
  openapiGenerator: () => fetched('OpenAPI Generator', openapiGenerator),
  schemathesis: () => fetched('Schemathesis', async () => ({ folder: await schemathesis() })),
  jinja: () => fetched('Jinja', async () => ({ pythonPath: await jinjaTemplates() })),
  mqtt: () => fetched('MQTT', async () => ({ modules: await mqttModules() })),
  kubernetesSchemas: () =>
    fetched('Kubernetes schemas', async () => ({ pythonPath: await kubernetesSchemas() })),
}

/** Whether a dedicated server can be started here, from an image or its program. */
async function startable<Start>(
  name: string,
  start: Start,
  program: () => Promise<unknown>,
): Promise<Shared<Start>> {
  if ((await containerHost()) !== undefined) return { kind: 'running', address: start }
  return ofProgram(name, start, program)
}

function ofProgram<Start>(
  name: string,
  start: Start,
  program: () => Promise<unknown>,
): Promise<Shared<Start>> {
  return fetched(name, async () => (await program(), start))
}

async function fetched<Address>(
  name: string,
  fetch: () => Promise<Address>,
): Promise<Shared<Address>> {
  try {
    return { kind: 'running', address: await fetch() }
  } catch (error) {
    return { kind: 'unavailable', reason: `${name}: ${String(error)}` }
  }
}

function map<A, B>(service: Shared<A>, change: (address: A) => B): Shared<B> {
  return service.kind === 'running' ? { ...service, address: change(service.address) } : service
}

function leaveOut(suite: string, reason: string): void {
  if (process.env['REQUIRE_SERVICES'] === '1') {
    describe(suite, () => {
      test('the suite has the servers it needs', () => {
        throw new Error(reason)
      })
    })
    return
  }
  noteSkipped(suite, reason)
  describe.skip(suite, () => {
    test('the suite needs an unavailable server', () => undefined)
  })
}
