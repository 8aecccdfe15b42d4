import { forkTypescript } from '../fork.ts'
import type { Candidate } from './candidate.ts'

/**
 * The limit that the other candidates are compared with: a server of `node:http` and nothing else that parses the
 * same JSON and answers the same bytes as the service does to one report.
 */
export async function startBare({ url, key }: Candidate): Promise<Candidate> {
  const child = forkTypescript('candidates/bare-server.ts')
  return {
    name: 'bare node:http',
    url: await child.ask<string>({ url, key }),
    // As long as a real key.
    key: `gps_${'0'.repeat(38)}`,
    pid: child.pid,
    stop: () => child.stop(),
  }
}
