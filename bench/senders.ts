import type { Candidate } from './candidates/candidate.ts'
import { forkTypescript } from './fork.ts'
import { APP_ATTRIBUTES } from './load/requests.ts'
import { median } from './median.ts'
import { meterOf } from './meter.ts'
import type { Part, Row } from './part.ts'
import type { BenchProgress } from './progress.ts'

const SHAPES = [
  { sender: 'OsmAnd', batch: 1, connections: 64 },
  { sender: 'Overland', batch: 1000, connections: 4 },
] as const

/**
 * Measures the cost of reports in the formats of apps, in rounds, each followed by reports in ours
 * with the same fields and attributes.
 */
export async function measureSenders(
  service: Candidate,
  { rounds, seconds, progress }: { rounds: number; seconds: number; progress: BenchProgress },
): Promise<Part> {
  const generator = forkTypescript('load/main.ts')
  const meter = meterOf(service, generator)
  try {
    const rows: Row[] = []
    for (const shape of SHAPES) {
      const { sender, batch } = shape
      const attributes = APP_ATTRIBUTES[sender]
      const samples: { own: number; native: number }[] = []
      // The first round warms up.
      for (let round = 0; round <= rounds; round += 1) {
        progress(round === 0 ? `warming up: ${sender}` : `round ${round} of ${rounds}: ${sender}`)
        const [own, native] = [
          await meter.measure({ ...shape, name: sender }, { seconds }),
          await meter.measure(
            { ...shape, name: 'native', sender: 'native', attributes },
            { seconds },
          ),
        ]
        if (round > 0) samples.push({ own: own.cpuMicros, native: native.cpuMicros })
      }
      rows.push({
        app: sender,
        'reports at once': String(batch),
        'CPU µs/report': median(samples.map(({ own }) => own)),
        native: median(samples.map(({ native }) => native)),
        '÷ native': median(samples.map(({ own, native }) => own / native)),
      })
    }
    return { title: 'Reports of apps', rows, faults: await meter.faults() }
  } finally {
    await generator.stop()
  }
}
