import { createServer, type AddressInfo } from 'node:net'
import { beforeAll, expect, test } from '@jest/globals'
import { closeAfterwards } from '../closing.ts'
import { operatorEnv } from '../deployments.ts'
import { eventually } from '../eventually.ts'
import { startProgram } from '../programs.ts'
import type { RunningProgram } from '../running-programs.ts'
import { logLines } from './log-lines.ts'

/** A program's attempts, from its debug log. */
const TRIED = [
  /"msg":"event log not ready yet; retrying"/g,
  /"msg":"could not prepare MongoDB; retrying/g,
]
const TIMES = 3
/** Each attempt waits for its whole time limit. */
const TIMES_SILENT = 1

/** Accepts connections and never responds. */
async function silentPort(): Promise<string> {
  const server = createServer((socket) => socket.on('error', () => undefined))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closeAfterwards(() => server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

const closedPort = async () => '127.0.0.1:9'
const unknownName = async () => 'kafka.invalid:9'

const STARTS = [
  ['ingest-api/main', 'a closed port', closedPort, /ECONNREFUSED/],
  ['projector/main', 'a closed port', closedPort, /ECONNREFUSED/],
  ['admin-api/main', 'a closed port', closedPort, /ECONNREFUSED/],
  ['projector/main', 'an unknown name', unknownName, /ENOTFOUND|EAI_AGAIN/],
  ['projector/main', 'a port that says nothing', silentPort, /time|no response/i],
] as const

/** They wait concurrently. */
const started: RunningProgram[] = []

beforeAll(async () => {
  for (const [program, , address] of STARTS) started.push(start(program, await address()))
})

function start(program: string, at: string): RunningProgram {
  return startProgram(program, {
    env: {
      ...operatorEnv(),
      INGEST_PORT: '0',
      ADMIN_PORT: '0',
      PROJECTOR_PORT: '0',
      LOG_LEVEL: 'debug',
      KAFKA_BROKERS: at,
      MONGODB_URL: `mongodb://${at}/gps`,
      ...(program === 'ingest-api/main' && { RATE_LIMIT_STORE: 'mongodb' }),
    },
  })
}

test.each(STARTS.map((row, index) => [...row, index] as const))(
  '%s with Kafka and MongoDB at %s logs one line for each, however often it tries',
  async (_program, _where, address, reason, index) => {
    const running = started[index]!
    const times = address === silentPort ? TIMES_SILENT : TIMES
    await eventually(
      () => TRIED.every((line) => (running.output().match(line)?.length ?? 0) >= times),
      { withinMs: 100_000 },
    )
    const lines = logLines(running).filter(({ level }) => Number(level) >= 40)
    const byVariable = lines.map(({ variable, msg }) => [variable, msg])
    expect(byVariable).toHaveLength(2)
    expect(byVariable).toEqual(
      expect.arrayContaining([
        ['KAFKA_BROKERS', 'Kafka is unavailable; retrying'],
        ['MONGODB_URL', 'MongoDB is unavailable; retrying'],
      ]),
    )
    for (const line of lines) expect(line['reason']).toMatch(reason)
    running.process.kill('SIGTERM')
    expect(await running.ended).toBe(0)
  },
)
