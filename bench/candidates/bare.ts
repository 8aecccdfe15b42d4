import { forkTypescript } from '../fork.ts'
import type { SampleAnswer } from '../sample-answer.ts'
import type { Candidate } from './candidate.ts'

/** The limit that the other candidates are compared with; it answers `sample` to everything. */
export async function startBare(sample: SampleAnswer): Promise<Candidate> {
  const child = forkTypescript('bare/main.ts')
  return {
    name: 'bare node:http',
    url: await child.ask<string>(sample),
    // As long as a real key.
    key: `gps_${'0'.repeat(38)}`,
    pid: child.pid,
    settled: async () => undefined,
    stored: () => child.ask<number>('count'),
    stop: () => child.stop(),
  }
}
