import { join } from 'node:path'
import { deviceStatus, FOLD_VERSION } from '../../projector/device-status.ts'
import { endOfTurn } from '../../runtime/end-of-turn.ts'
import type { Generation } from '../../store/generations.ts'
import type { PositionEntry } from '../../store/read-models.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import type { Store } from '../../store/store.ts'
import { temporaryDirectory } from '../../test/temporary-directory.ts'
import { eventOf } from '../events.ts'
import { median } from '../median.ts'
import { carryOut } from '../fork.ts'
import type { BenchProgress } from '../progress.ts'
import { stopwatch } from '../projector/speed.ts'
import type { ReadsOrder } from './measure.ts'

const BATCH = 500
const READS = 2_000
const PAGE = 100
/** A million records take minutes. */
const REPORTED_EVERY = 1_000_000

/** Fills an SQLite store through its adapter and then reads it. */
carryOut(fillAndRead)

async function fillAndRead(order: ReadsOrder, progress: BenchProgress) {
  const directory = await temporaryDirectory()
  const store = openSqliteStore({ directory: join(directory.path, 'store') })
  try {
    const { perSecond } = await fill(store, order, progress)
    return { 'filled/s': perSecond, ...(await read(store, order)) }
  } finally {
    await store.close()
    await directory.remove()
  }
}

/** A tenth of the records belong to one device. */
function recordOf(n: number, { devices }: ReadsOrder) {
  const event = eventOf(n, { devices })
  return n % 10 === 0 ? { ...event, deviceId: 'long' } : event
}

async function fill(store: Store, order: ReadsOrder, progress: BenchProgress) {
  const generation: Generation = await store.openGeneration(1)
  const watch = stopwatch()
  for (let next = 0; next < order.records; next += BATCH) {
    const count = Math.min(BATCH, order.records - next)
    const entries = Array.from({ length: count }, (_, at): PositionEntry => {
      // Offsets of the embedded log begin at 1.
      const origin = { partition: 0, offset: next + at + 1 }
      return { kind: 'position', origin, event: recordOf(next + at, order) }
    })
    const lastOffset = next + count
    await generation.project({
      partition: 0,
      lastOffset,
      entries,
      fold: deviceStatus,
      foldVersion: FOLD_VERSION,
    })
    watch.count(count)
    if (lastOffset % REPORTED_EVERY === 0) progress(`${lastOffset} of ${order.records} records`)
    // Lets this process notice the end of the bench.
    await endOfTurn()
  }
  await generation.close()
  return watch.read()
}

async function read(store: Store, order: ReadsOrder) {
  const accountId = 'bench'
  const long = { accountId, deviceId: 'long', limit: PAGE } as const
  const [oldest, newest] = [0, order.records - 1].map((n) => recordOf(n, order).timestamp)
  const span = (newest ?? 0) - (oldest ?? 0)
  const page = async (query: Parameters<Store['pagePositions']>[0]) => {
    if ((await store.pagePositions(query)).length !== PAGE) throw new Error('a page is not full')
  }
  return {
    'last position µs': await timed(async () => {
      const n = 1 + 10 * Math.floor((Math.random() * Math.min(order.devices, order.records)) / 10)
      const { deviceId } = recordOf(n, order)
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
