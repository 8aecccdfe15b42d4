import { createServer, type AddressInfo } from 'node:net'
import { afterEach, expect, test } from '@jest/globals'
import { closeAfterwards } from '../closing.ts'
import { operatorEnv } from '../deployments.ts'
import { eventually } from '../eventually.ts'
import { startProgram } from '../programs.ts'
import { endPrograms } from '../running-programs.ts'

afterEach(endPrograms)

/** The attempts that a program makes, as it logs them for debugging. */
const TRIED = [/"msg":"event log is not ready yet"/g, /"msg":"MongoDB cannot be used yet/g]
const TIMES = 3
/** Each attempt waits for as long as it may. */
const TIMES_SILENT = 1

/** Accepts connections and says nothing. */
async function silentPort(): Promise<string> {
  const server = createServer((socket) => socket.on('error', () => undefined))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closeAfterwards(() => server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

test.each([
  ['ingest-api/main', 'a closed port', async () => '127.0.0.1:9', /ECONNREFUSED/],
  ['projector/main', 'a closed port', async () => '127.0.0.1:9', /ECONNREFUSED/],
  ['admin-api/main', 'a closed port', async () => '127.0.0.1:9', /ECONNREFUSED/],
  ['projector/main', 'an unknown name', async () => 'kafka.invalid:9', /ENOTFOUND|EAI_AGAIN/],
  ['projector/main', 'a port that says nothing', silentPort, /time|no answer/i],
])(
  '%s with Kafka and MongoDB at %s logs one line for each, however often it tries',
  async (program, _where, address, reason) => {
    const at = await address()
    const times = address === silentPort ? TIMES_SILENT : TIMES
    const running = startProgram(program, {
      env: {
        ...operatorEnv(),
        INGEST_PORT: '0',
        ADMIN_PORT: '0',
        LOG_LEVEL: 'debug',
        KAFKA_BROKERS: at,
        MONGODB_URL: `mongodb://${at}/gps`,
        ...(program === 'ingest-api/main' && { RATE_LIMIT_STORE: 'mongodb' }),
      },
    })
    await eventually(
      () => TRIED.every((line) => (running.output().match(line)?.length ?? 0) >= times),
      { withinMs: 100_000 },
    )
    const lines = running
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ level }) => Number(level) >= 40)
    const byVariable = lines.map(({ variable, msg }) => [variable, msg])
    expect(byVariable).toHaveLength(2)
    expect(byVariable).toEqual(
      expect.arrayContaining([
        ['KAFKA_BROKERS', 'Kafka cannot be used, trying again'],
        ['MONGODB_URL', 'MongoDB cannot be used, trying again'],
      ]),
    )
    for (const line of lines) expect(line['reason']).toMatch(reason)
    running.process.kill('SIGTERM')
    expect(await running.ended).toBe(0)
  },
)
