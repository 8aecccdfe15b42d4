import { createKey, operatorEnv, ready } from '../../test/deployments.ts'
import { listens, startProgram } from '../../test/programs.ts'
import type { Order } from '../order.ts'
import { UNHINDERED, type Candidate } from './candidate.ts'

/**
 * The ingest API as a separate process, on Kafka and MongoDB; nothing is projected in the meantime.
 */
export async function startKafkaCandidate(
  format: 'JSON' | 'Avro',
  { servers, adapters }: Order,
): Promise<Candidate> {
  const { brokers, registryUrl, mongodbUrl } = await servers()
  const topicPrefix = `bench-${format.toLowerCase()}`
  const env = {
    ...operatorEnv(),
    ...UNHINDERED,
    KAFKA_BROKERS: brokers.join(','),
    KAFKA_TOPIC_PREFIX: topicPrefix,
    MONGODB_URL: mongodbUrl(topicPrefix),
    ...(format === 'Avro' && { SCHEMA_REGISTRY_URL: registryUrl }),
    INGEST_PORT: '0',
    ADMIN_PORT: '0',
  }
  // Only to create a key: otherwise it would take its share of the processor.
  const admin = startProgram('admin-api/main', { env })
  const key = await createKey(await listens(admin, 'admin API'))
  admin.process.kill('SIGTERM')
  await admin.ended
  const program = startProgram('ingest-api/main', { env })
  const url = await listens(program, 'ingest API')
  await ready(url)
  const eventLog = adapters.openTopics({ brokers, topicPrefix })
  return {
    name: `Kafka, ${format}`,
    url,
    key,
    pid: program.process.pid ?? 0,
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
