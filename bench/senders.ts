import { startKafkaCandidate } from './candidates/kafka.ts'
import { forkTypescript } from './fork.ts'
import { APP_ATTRIBUTES } from './load/requests.ts'
import { median } from './median.ts'
import { meterOf } from './meter.ts'
import type { Order } from './order.ts'
import type { Part, Row } from './part.ts'

const SHAPES = [
  { sender: 'OsmAnd', batch: 1, connections: 64 },
  { sender: 'Overland', batch: 1000, connections: 4 },
] as const

/**
 * Measures the cost of reports in the formats of apps, in rounds, each followed by reports in ours
 * with the same fields and attributes.
 */
export async function measureSenders(order: Order): Promise<Part> {
  const { rounds, seconds, progress } = order
  const servers = await order.servers()
  progress('starting: ingest API on Kafka, for senders')
  const service = await startKafkaCandidate('JSON', servers, order.adapters, 'bench-senders')
  const generator = forkTypescript('load/main.ts')
  const { measure, faults } = meterOf(service, generator)
  try {
    const rows: Row[] = []
    for (const shape of SHAPES) {
      const { sender, batch } = shape
      const native = { ...shape, sender: 'native', attributes: APP_ATTRIBUTES[sender] } as const
      const samples: { own: number; native: number }[] = []
      // The first round warms up.
      for (let round = 0; round <= rounds; round += 1) {
        progress(round === 0 ? `warming up: ${sender}` : `round ${round} of ${rounds}: ${sender}`)
        const own = await measure({ ...shape, name: sender }, { seconds })
        const ours = await measure({ ...native, name: 'native' }, { seconds })
        if (round > 0) samples.push({ own: own.cpuMicros, native: ours.cpuMicros })
      }
      rows.push({
        app: sender,
        'reports at once': String(batch),
        'CPU µs/report': median(samples.map(({ own }) => own)),
        native: median(samples.map(({ native }) => native)),
        '÷ native': median(samples.map(({ own, native }) => own / native)),
      })
    }
    return { title: 'Reports of apps', rows, faults: await faults() }
  } finally {
    await generator.stop()
    await service.stop()
  }
}
