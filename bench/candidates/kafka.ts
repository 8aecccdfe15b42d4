import { createKeys, operatorEnv, ready } from '../../test/deployments.ts'
import { listens, startProgram } from '../../test/programs.ts'
import type { Adapters } from '../order.ts'
import { ACCOUNTS_SENDING, UNHINDERED, type Candidate } from './candidate.ts'
import type { Servers } from './servers.ts'

/** The ingest API as a separate process, on Kafka and MongoDB; nothing is projected meanwhile. */
export async function startKafkaCandidate(
  format: 'JSON' | 'Avro',
  { brokers, registryUrl, ...servers }: Servers,
  { openTopics }: Pick<Adapters, 'openTopics'>,
  topicPrefix = `bench-${format.toLowerCase()}`,
): Promise<Candidate> {
  const env = {
    ...operatorEnv(),
    ...UNHINDERED,
    KAFKA_BROKERS: brokers.join(','),
    KAFKA_TOPIC_PREFIX: topicPrefix,
    MONGODB_URL: servers.mongodbUrl(topicPrefix),
    ...(format === 'Avro' && { SCHEMA_REGISTRY_URL: registryUrl }),
    INGEST_PORT: '0',
    ADMIN_PORT: '0',
  }
  // Only to create keys: it would take its share of the processor.
  const admin = startProgram('admin-api/main', { env })
  const keys = await createKeys(await listens(admin, 'admin API'), ACCOUNTS_SENDING)
  admin.process.kill('SIGTERM')
  await admin.ended
  const program = startProgram('ingest-api/main', { env })
  const url = await listens(program, 'ingest API')
  await ready(url)
  const eventLog = openTopics({ brokers, topicPrefix })
  return {
    name: `Kafka, ${format}`,
    url,
    key: keys[0] ?? '',
    keys,
    pid: program.process.pid ?? 0,
    settled: async () => undefined,
    async stored() {
      const extent = await eventLog.extent()
      return extent.reduce((sum, { first, next }) => sum + next - first, 0)
    },
    async stop() {
      program.process.kill('SIGTERM')
      await program.ended
      await eventLog.close()
    },
  }
}
