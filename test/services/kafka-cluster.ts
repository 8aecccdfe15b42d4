import { formatted, kafkaAnswers, newClusterId, SETTINGS } from './kafka-server.ts'
import { freePort, startProcess, type OwnServer } from './own-server.ts'

export type KafkaCluster = {
  readonly brokers: string[]
  /** By number; each keeps its port and data when killed and restarted. */
  readonly nodes: readonly OwnServer[]
  kill(): Promise<void>
}

const NODES = [1, 2, 3] as const

const CLUSTER_SETTINGS = {
  ...SETTINGS,
  'default.replication.factor': '3',
  'offsets.topic.replication.factor': '3',
  'transaction.state.log.replication.factor': '3',
  // A silently dead broker is detected after this time; with Kafka's default of 9 s, recovery takes
  // as long.
  'broker.session.timeout.ms': '3000',
  'broker.heartbeat.interval.ms': '500',
}

/** Starts three nodes (KRaft, each broker and controller) on loopback, about 15 s; processes always. */
export async function startKafkaCluster(
  settings: Readonly<Record<string, string>> = {},
): Promise<KafkaCluster> {
  const clusterId = newClusterId()
  const ports = await Promise.all(
    NODES.map(async () => ({ broker: await freePort(), controller: await freePort() })),
  )
  const voters = ports.map(({ controller }, at) => `${NODES[at]}@127.0.0.1:${controller}`).join(',')
  const nodes = await Promise.all(
    ports.map(({ broker, controller }, at) =>
      startProcess(`kafka-${NODES[at]}`, {}, async (dataDir) => ({
        ...(await formatted({
          dataDir,
          clusterId,
          settings: {
            ...CLUSTER_SETTINGS,
            ...settings,
            'node.id': String(NODES[at]),
            'controller.quorum.voters': voters,
            listeners: `PLAINTEXT://127.0.0.1:${broker},CONTROLLER://127.0.0.1:${controller}`,
            'advertised.listeners': `PLAINTEXT://127.0.0.1:${broker}`,
          },
        })),
        answers: () => kafkaAnswers([`127.0.0.1:${broker}`]),
      })),
    ),
  )
  return {
    brokers: ports.map(({ broker }) => `127.0.0.1:${broker}`),
    nodes,
    async kill() {
      await Promise.all(nodes.map((node) => node.kill()))
    },
  }
}
