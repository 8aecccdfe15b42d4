import { forkTypescript } from '../fork.ts'
import type { Part, Row } from '../part.ts'
import type { Progress } from '../progress.ts'

/** A store with this many records, of devices in turn. */
export type ReadsOrder = { readonly records: number; readonly devices: number }

/** Fills empty SQLite stores, each in a separate process, and reads them. */
export async function measureReads(
  orders: readonly ReadsOrder[],
  progress: Progress,
): Promise<Part> {
  const rows: Row[] = []
  for (const order of orders) {
    const { records, devices } = order
    progress(`SQLite store: ${records} records of ${devices} devices`)
    const child = forkTypescript('reads/main.ts')
    try {
      const answer = await child.ask<{ done: Row } | { failed: string }>(order)
      if ('failed' in answer) throw new Error(`filling a store failed: ${answer.failed}`)
      rows.push({ records: String(records), devices: String(devices), ...answer.done })
    } finally {
      await child.stop()
    }
  }
  return { title: 'Reading SQLite', rows, faults: [] }
}
