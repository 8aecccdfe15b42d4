import { takesBatches, type Candidate } from '../candidates/candidate.ts'
import { cpuSeconds, residentMegabytes } from '../cpu-time.ts'
import { forkTypescript } from '../fork.ts'
import { startGenerator, type Generator } from '../load/generator.ts'
import type { Percentiles } from '../load/latencies.ts'
import type { Progress } from '../progress.ts'

export type StoreOrder =
  | { readonly kind: 'devices'; readonly devices: number }
  | { readonly kind: 'history'; readonly records: number }

export type DevicesRow = {
  readonly devices: number
  readonly projectedPerSecond: number
  /** Finding one device with its last position. */
  readonly lastPositionMicros: number
}

export type HistoryRow = {
  readonly records: number
  readonly filledPerSecond: number
  readonly newestPageMicros: number
  /** A page that begins anywhere in the history. */
  readonly pageMicros: number
}

/** A service after so many devices have reported. */
export type MemoryRow = {
  readonly candidate: Candidate['name']
  readonly devices: number
  readonly residentMB: number
  readonly perSecond: number
  readonly cpuMicros: number
  readonly latency: Percentiles
}

export type GrowthResult = {
  readonly stores: readonly DevicesRow[]
  readonly services: readonly MemoryRow[]
  readonly faults: readonly string[]
}

export type HistoryResult = {
  readonly rows: readonly HistoryRow[]
  readonly faults: readonly string[]
}

/** Fills an empty SQLite store in a process of its own, and reads it. */
export async function measureStore<Row>(order: StoreOrder): Promise<Row> {
  const child = forkTypescript('growth/main.ts')
  try {
    const answer = await child.ask<{ done: Row } | { failed: string }>(order)
    if ('failed' in answer) throw new Error(`filling a store failed: ${answer.failed}`)
    return answer.done
  } finally {
    await child.stop()
  }
}

/** Has more and more devices report to a service. */
export async function measureService(
  service: Candidate,
  counts: readonly number[],
  { seconds, progress }: { seconds: number; progress: Progress },
): Promise<MemoryRow[]> {
  const generator = startGenerator()
  const batch = (await takesBatches(service)) ? 100 : 1
  const rows: MemoryRow[] = []
  try {
    for (const devices of counts) {
      progress(`${service.name}: ${devices} devices`)
      await reportOfEach(service, { generator, devices, batch })
      const { url, key, pid, name: candidate } = service
      const before = await cpuSeconds(pid)
      const window = await generator.run({
        ...{ kind: 'saturate', connections: 64, seconds },
        target: { url, key, batch: 1, devices },
      })
      await service.settled()
      rows.push({
        ...{ candidate, devices, residentMB: await residentMegabytes(pid) },
        perSecond: window.acknowledged / window.seconds,
        cpuMicros: (((await cpuSeconds(pid)) - before) * 1e6) / window.acknowledged,
        latency: window.latency,
      })
    }
    return rows
  } finally {
    await generator.stop()
  }
}

/** At least one report of each device. */
async function reportOfEach(
  service: Candidate,
  { generator, devices, batch }: { generator: Generator; devices: number; batch: number },
): Promise<void> {
  const { url, key } = service
  const target = { url, key, batch, devices }
  const connections = batch === 1 ? 64 : 8
  let sent = 0
  while (sent < devices) {
    const window = await generator.run({ kind: 'saturate', target, connections, seconds: 2 })
    if (window.acknowledged === 0) throw new Error(`refused: ${JSON.stringify(window.failed)}`)
    sent += window.acknowledged
    await service.settled()
  }
}
