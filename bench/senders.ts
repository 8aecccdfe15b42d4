import type { Candidate } from './candidates/candidate.ts'
import { cpuSeconds } from './cpu-time.ts'
import { startGenerator } from './load/generator.ts'
import type { Sender } from './load/requests.ts'
import { median } from './median.ts'
import type { Part, Row } from './part.ts'
import type { Progress } from './progress.ts'

const SHAPES = [
  { sender: 'OsmAnd', batch: 1, connections: 64 },
  { sender: 'Overland', batch: 1000, connections: 4 },
] as const

/**
 * Measures the cost of reports in the formats of apps, in rounds, each followed by as many in ours.
 */
export async function measureSenders(
  service: Candidate,
  { rounds, seconds, progress }: { rounds: number; seconds: number; progress: Progress },
): Promise<Part> {
  const { url, key, pid } = service
  const generator = startGenerator()
  const faults: string[] = []
  let acknowledged = 0

  async function cpuMicros(sender: Sender, { batch, connections }: (typeof SHAPES)[number]) {
    const target = { url, key, batch, sender }
    const before = await cpuSeconds(pid)
    const window = await generator.run({ kind: 'saturate', target, connections, seconds })
    await service.settled()
    acknowledged += window.acknowledged
    for (const [status, times] of Object.entries(window.failed)) {
      faults.push(`${sender}, ${batch} at once: ${times} answers with status ${status}`)
    }
    return (((await cpuSeconds(pid)) - before) * 1e6) / window.acknowledged
  }

  try {
    const rows: Row[] = []
    for (const shape of SHAPES) {
      const { sender, batch } = shape
      const samples: { own: number; native: number }[] = []
      // The first round warms up.
      for (let round = 0; round <= rounds; round += 1) {
        progress(round === 0 ? `warming up: ${sender}` : `round ${round} of ${rounds}: ${sender}`)
        const sample = {
          own: await cpuMicros(sender, shape),
          native: await cpuMicros('native', shape),
        }
        if (round > 0) samples.push(sample)
      }
      rows.push({
        ...{ app: sender, 'reports at once': String(batch) },
        'CPU µs/report': median(samples.map(({ own }) => own)),
        native: median(samples.map(({ native }) => native)),
        '÷ native': median(samples.map(({ own, native }) => own / native)),
      })
    }
    const stored = await service.stored()
    if (stored !== acknowledged) faults.push(`${acknowledged} acknowledged, ${stored} stored`)
    return { title: 'Reports of apps', rows, faults }
  } finally {
    await generator.stop()
  }
}
