import type { Candidate } from '../candidates/candidate.ts'
import { forkTypescript } from '../fork.ts'

/** The service whose answer is repeated; or for the number of reports so far. */
export type BareOrder = Pick<Candidate, 'url' | 'key'> | 'count'

/**
 * The limit that the other candidates are compared with: a server of `node:http` and nothing else that parses the
 * same JSON and answers the same bytes as the service does to one report.
 */
export async function startBare({ url, key }: Candidate): Promise<Candidate> {
  const child = forkTypescript('bare/main.ts')
  const ask = <Answer>(order: BareOrder) => child.ask<Answer>(order)
  return {
    name: 'bare node:http',
    url: await ask<string>({ url, key }),
    // As long as a real key.
    key: `gps_${'0'.repeat(38)}`,
    pid: child.pid,
    settled: async () => undefined,
    stored: () => ask<number>('count'),
    stop: () => child.stop(),
  }
}
