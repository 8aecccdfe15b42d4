import { setTimeout as pause } from 'node:timers/promises'
import type { Candidate } from '../candidates/candidate.ts'
import { Connection, type Answer } from '../load/connection.ts'
import { Latencies, type Percentiles } from '../load/latencies.ts'
import { pace } from '../load/loops.ts'

export type ReadableResult = {
  readonly reportsPerSecond: number
  /** Milliseconds from the 200 to the answer of the admin API that has the record. */
  readonly latency: Percentiles
  /** How many reports were asked for. */
  readonly asked: number
  readonly faults: readonly string[]
}

const REPORTS_PER_SECOND = 200
/** To ask for each one would keep the service busy with nothing else. */
const ONE_IN = 10
const ASK_EVERY_MS = 1
const GIVEN_UP_AFTER_MS = 5_000

/** How long after its 200 a report can be read, with reports coming in evenly. */
export async function measureReadable(
  { url, adminUrl, key }: Pick<Candidate, 'url' | 'key'> & { readonly adminUrl: string },
  { seconds }: { seconds: number },
): Promise<ReadableResult> {
  const latencies = new Latencies()
  const faults: string[] = []
  const asking: Promise<void>[] = []
  const { hostname: host, port } = new URL(adminUrl)
  const idle: Connection[] = []
  let answers = 0
  const window = await pace(
    { url, key, batch: 1 },
    {
      ...{ connections: 8, seconds, perSecond: REPORTS_PER_SECOND },
      onAnswer(answer) {
        answers += 1
        if (answers % ONE_IN === 0) asking.push(untilReadable(answer))
      },
    },
  )
  await Promise.all(asking)
  for (const connection of idle) connection.close()
  for (const [status, times] of Object.entries(window.failed)) {
    faults.push(`readable: ${times} answers with status ${status}`)
  }
  return {
    reportsPerSecond: REPORTS_PER_SECOND,
    latency: latencies.read(),
    asked: asking.length,
    faults,
  }

  async function untilReadable({ body }: Answer): Promise<void> {
    const acknowledgedAt = performance.now()
    const connection = idle.pop() ?? (await Connection.open({ host, port: Number(port) }))
    const { recordId } = (JSON.parse(body) as { data: { recordId: string } }).data
    const request =
      `GET /api/v1/positions/${recordId} HTTP/1.1\r\nHost: bench\r\n` +
      `Authorization: Bearer ${key}\r\n\r\n`
    for (;;) {
      const status = await new Promise((resolve) =>
        connection.send(request, (answer) => resolve(answer?.status)),
      )
      const afterMs = performance.now() - acknowledgedAt
      if (status === 200) {
        latencies.add(afterMs)
        idle.push(connection)
        return
      }
      if (status !== 404 || afterMs > GIVEN_UP_AFTER_MS) {
        faults.push(`readable: ${recordId} still answers ${String(status)} after ${afterMs} ms`)
        connection.close()
        return
      }
      await pause(ASK_EVERY_MS)
    }
  }
}
