import { adminReader } from '../test/admin-reader.ts'
import { eventually } from '../test/eventually.ts'
import { startEmbeddedCandidate } from './candidates/embedded.ts'
import { progress } from './fork.ts'
import type { LoadAnswer } from './load/connection.ts'
import { faultsOf, sendLoad } from './load/loops.ts'
import { percentiles } from './statistics.ts'
import type { Order } from './order.ts'
import type { Part } from './part.ts'

const REPORTS_PER_SECOND = 200
/** Polling for every report would keep the service busy with nothing else. */
const ONE_IN = 10
const ASKING = { everyMs: 1, withinMs: 5_000 }

/** Measures it twice: the first time warms up. */
export async function measureReadable({ seconds, adapters }: Order): Promise<Part> {
  progress('starting: embedded, for how soon reports are readable')
  const service = await startEmbeddedCandidate(adapters.openFiles)
  try {
    await measureIn(service, seconds)
    progress('how soon reports are readable')
    return await measureIn(service, 10 * seconds)
  } finally {
    await service.stop()
  }
}

/**
 * How long after its 200 a report becomes readable, under an even load of reports: until the admin
 * API returns the record, and the fact that its device is online. Each device reports once.
 */
async function measureIn(
  service: Awaited<ReturnType<typeof startEmbeddedCandidate>>,
  seconds: number,
): Promise<Part> {
  const { url, key } = service
  const reader = adminReader(service)
  const asked: Promise<{ position: number; fact: number }>[] = []
  let answers = 0
  const load = { connections: 8, seconds, perSecond: REPORTS_PER_SECOND }
  const window = await sendLoad({ url, key, batch: 1 }, load, (answer) => {
    answers += 1
    if (answers % ONE_IN === 0) asked.push(untilReadable(answer))
  })
  const outcomes = await Promise.allSettled(asked)
  const readable = outcomes.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
  const late = outcomes.filter(({ status }) => status === 'rejected')
  const faults = faultsOf('readable', window)
  if (late.length > 0) faults.push(`${late.length} reports are not readable after 5 s`)
  const { p50, p99, p999 } = percentiles(readable.map(({ position }) => position))
  const facts = percentiles(readable.map(({ fact }) => fact))
  const row = {
    service: 'embedded',
    'reports/s': REPORTS_PER_SECOND,
    'asked for': asked.length,
    'p50 ms': p50,
    'p99 ms': p99,
    'p99.9 ms': p999,
    'fact p50 ms': facts.p50,
    'fact p99 ms': facts.p99,
    'fact ÷ position': facts.p99 / p99,
  }
  return { title: 'From the 200 to readable', rows: [row], faults, rounds: 1 }

  async function untilReadable({ body }: LoadAnswer) {
    const acknowledgedAt = performance.now()
    const { recordId } = (JSON.parse(body) as { data: { recordId: string } }).data
    const { deviceId } = await eventually(() => reader.positionIfAny(recordId), ASKING)
    const position = performance.now() - acknowledgedAt
    await eventually(async () => (await reader.facts(deviceId)).length > 0, ASKING)
    return { position, fact: performance.now() - acknowledgedAt }
  }
}
