import type { Store } from '../store/store.ts'
import { temporaryDirectory } from '../test/temporary-directory.ts'
import { eventOf } from './events.ts'
import { runJob } from './fork.ts'
import { median } from './median.ts'
import type { JobTools, Order } from './order.ts'
import type { Part, Row } from './part.ts'
import { fillLog } from './projector/fill-log.ts'
import { projectAll } from './projector/project.ts'

const READS = 2_000
const PAGE = 100

/** A store with this many records, of devices in turn. */
type ReadsOrder = { readonly records: number; readonly devices: number }

/** Fills empty SQLite stores, each in a separate process, and reads them. */
export async function measureReads({ short, progress }: Order): Promise<Part> {
  const [few, many] = short ? [1e4, 1e5] : [1e5, 1e7]
  const rows: Row[] = []
  for (const order of [
    { records: few, devices: few / 100 },
    { records: many, devices: many / 10 },
  ]) {
    const { records, devices } = order
    progress(`SQLite store: ${records} records of ${devices} devices`)
    const measured = await runJob<Row>('fillAndRead', order, progress)
    rows.push({ records: String(records), devices: String(devices), ...measured })
  }
  return { title: 'Reading SQLite', rows, faults: [], rounds: 1 }
}

export async function fillAndRead(order: ReadsOrder, { adapters }: JobTools): Promise<Row> {
  const { records: events, devices } = order
  const directory = await temporaryDirectory()
  const { eventLog, store } = adapters.openFiles(directory.path)
  try {
    await fillLog(eventLog, { events, devices, hasLong: true })
    const { perSecond } = await projectAll({ eventLog, store, events, generation: 1 })
    return { 'filled/s': perSecond, ...(await read(store, order)) }
  } finally {
    await eventLog.close()
    await store.close()
    await directory.remove()
  }
}

async function read(store: Store, order: ReadsOrder) {
  const accountId = 'bench'
  const long = { accountId, deviceId: 'long', limit: PAGE } as const
  const [oldest, newest] = [0, order.records - 1].map((n) => eventOf(n, order).timestamp)
  const span = (newest ?? 0) - (oldest ?? 0)
  const page = async (query: Parameters<Store['pagePositions']>[0]) => {
    if ((await store.pagePositions(query)).length !== PAGE) throw new Error('a page is not full')
  }
  return {
    'last position µs': await timed(async () => {
      const n = 1 + 10 * Math.floor((Math.random() * Math.min(order.devices, order.records)) / 10)
      const { deviceId } = eventOf(n, order)
      if ((await store.findDevice({ accountId, deviceId })) === undefined) {
        throw new Error(`${deviceId} is missing`)
      }
    }),
    'newest page µs': await timed(() => page({ ...long, order: 'desc' })),
    'page in the middle µs': await timed(() =>
      page({ ...long, order: 'asc', from: (oldest ?? 0) + Math.random() * 0.9 * span }),
    ),
  }
}

/** The microseconds that a call takes: the median, without the first tenth. */
async function timed(call: () => Promise<void>): Promise<number> {
  const micros: number[] = []
  for (let time = 0; time < READS; time += 1) {
    const begin = performance.now()
    await call()
    if (time >= READS / 10) micros.push((performance.now() - begin) * 1000)
  }
  return median(micros)
}
