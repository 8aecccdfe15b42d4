import { setTimeout as pause } from 'node:timers/promises'
import { startEmbeddedCandidate } from './candidates/embedded.ts'
import { LoadConnection, type LoadAnswer } from './load/load-connection.ts'
import { faultsOf, sendLoad } from './load/loops.ts'
import { percentiles } from './median.ts'
import type { Order } from './order.ts'
import type { Part } from './part.ts'

const REPORTS_PER_SECOND = 200
/** Asking for every report would keep the service busy with nothing else. */
const ONE_IN = 10
const ASK_EVERY_MS = 1
const GIVEN_UP_AFTER_MS = 5_000

/** Measures it twice: the first time warms up. */
export async function measureReadable({ seconds, progress, adapters }: Order): Promise<Part> {
  progress('starting: embedded, for how soon reports are readable')
  const service = await startEmbeddedCandidate(adapters.openFiles)
  try {
    await measureIn(service, { seconds })
    progress('how soon reports are readable')
    return await measureIn(service, { seconds: 10 * seconds })
  } finally {
    await service.stop()
  }
}

/**
 * How long after its 200 a report becomes readable, while reports come in evenly: until the admin
 * API answers with the record, and with the fact that its device is online. Each device reports once.
 */
async function measureIn(
  { url, adminUrl, key }: Awaited<ReturnType<typeof startEmbeddedCandidate>>,
  { seconds }: { seconds: number },
): Promise<Part> {
  const latencies: number[] = []
  const factLatencies: number[] = []
  const faults: string[] = []
  const asking: Promise<void>[] = []
  const { hostname: host, port } = new URL(adminUrl)
  const idle: LoadConnection[] = []
  let answers = 0
  const load = { connections: 8, seconds, perSecond: REPORTS_PER_SECOND }
  const window = await sendLoad({ url, key, batch: 1 }, load, (answer) => {
    answers += 1
    if (answers % ONE_IN === 0) asking.push(untilReadable(answer))
  })
  await Promise.all(asking)
  for (const connection of idle) connection.close()
  faults.push(...faultsOf('readable', window))
  const { p50, p99, p999 } = percentiles(latencies)
  const facts = percentiles(factLatencies)
  const row = {
    service: 'embedded',
    'reports/s': REPORTS_PER_SECOND,
    'asked for': asking.length,
    'p50 ms': p50,
    'p99 ms': p99,
    'p99.9 ms': p999,
    'fact p50 ms': facts.p50,
    'fact p99 ms': facts.p99,
    'fact ÷ position': facts.p99 / p99,
  }
  return { title: 'From the 200 to readable', rows: [row], faults, rounds: 1 }

  async function untilReadable({ body }: LoadAnswer): Promise<void> {
    const acknowledgedAt = performance.now()
    const connection = idle.pop() ?? (await LoadConnection.open({ host, port: Number(port) }))
    const { recordId } = (JSON.parse(body) as { data: { recordId: string } }).data
    const position = await until(`positions/${recordId}`, ({ status }) => status === 200)
    if (position === undefined) return
    latencies.push(performance.now() - acknowledgedAt)
    const { deviceId } = (JSON.parse(position) as { data: { deviceId: string } }).data
    const path = `facts?deviceId=${deviceId}&type=device.online`
    const isDecided = await until(path, (answer) => answer.body.includes(recordId))
    if (isDecided === undefined) return
    factLatencies.push(performance.now() - acknowledgedAt)
    idle.push(connection)

    async function until(
      path: string,
      isThere: (answer: LoadAnswer) => boolean,
    ): Promise<string | undefined> {
      const request =
        `GET /api/v1/${path} HTTP/1.1\r\nHost: bench\r\n` + `Authorization: Bearer ${key}\r\n\r\n`
      for (;;) {
        const answer = await new Promise<LoadAnswer | undefined>((resolve) =>
          connection.send(request, resolve),
        )
        if (answer !== undefined && isThere(answer)) return answer.body
        const afterMs = performance.now() - acknowledgedAt
        if (afterMs > GIVEN_UP_AFTER_MS) {
          faults.push(`readable: ${path} still answers ${answer?.status} after ${afterMs} ms`)
          connection.close()
          return undefined
        }
        await pause(ASK_EVERY_MS)
      }
    }
  }
}
