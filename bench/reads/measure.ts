import { inOwnProcess } from '../fork.ts'
import type { Part, Row } from '../part.ts'
import type { BenchProgress } from '../progress.ts'

/** A store with this many records, of devices in turn. */
export type ReadsOrder = { readonly records: number; readonly devices: number }

/** Fills empty SQLite stores, each in a separate process, and reads them. */
export async function measureReads(
  orders: readonly ReadsOrder[],
  progress: BenchProgress,
): Promise<Part> {
  const rows: Row[] = []
  for (const order of orders) {
    const { records, devices } = order
    progress(`SQLite store: ${records} records of ${devices} devices`)
    const measured = await inOwnProcess<Row>('reads/main.ts', order, progress)
    rows.push({ records: String(records), devices: String(devices), ...measured })
  }
  return { title: 'Reading SQLite', rows, faults: [] }
}
