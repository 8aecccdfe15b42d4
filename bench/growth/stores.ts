import { deviceStatus } from '../../projector/device-status.ts'
import { endOfTurn } from '../../runtime/end-of-turn.ts'
import type { PositionReported } from '../../schemas/position-reported.ts'
import type { Generation, PositionEntry } from '../../store/read-models.ts'
import type { Store } from '../../store/store.ts'
import { eventOf } from '../events.ts'
import { median } from '../median.ts'
import type { Progress } from '../progress.ts'
import { stopwatch } from '../projector/speed.ts'
import type { DevicesRow, HistoryRow } from './measure.ts'

const BATCH = 500
/** Projected and timed once the store is full. */
const TIMED_EVENTS = 100_000
const READS = 2_000
const PAGE = 100
const ACCOUNT = 'bench'
/** A million take minutes. */
const SAID_EVERY = 1_000_000

/** So many devices have reported: how fast are more reports projected, how fast is one device found? */
export async function measureDevices(
  store: Store,
  { devices, progress }: { devices: number; progress: Progress },
): Promise<DevicesRow> {
  const filling = { of: (n: number) => eventOf(n, { devices }), progress }
  await fill(store, { from: 0, to: devices, ...filling })
  const to = devices + TIMED_EVENTS
  const { perSecond } = await fill(store, { from: devices, to, ...filling })
  const lastPositionMicros = await timed(READS, async () => {
    const deviceId = `bench-${Math.floor(Math.random() * devices)}`
    const found = await store.findDevice({ accountId: ACCOUNT, deviceId })
    if (found === undefined) throw new Error(`${deviceId} is not there`)
  })
  return { devices, projectedPerSecond: perSecond, lastPositionMicros }
}

/** So many records, a tenth of them of one device: how fast is a page of that one's history read? */
export async function measureHistory(
  store: Store,
  { records, progress }: { records: number; progress: Progress },
): Promise<HistoryRow> {
  const devices = Math.max(10, records / 1_000)
  const of = (n: number): PositionReported => {
    const event = eventOf(n, { devices })
    return n % 10 === 0 ? { ...event, deviceId: 'long' } : event
  }
  const { perSecond } = await fill(store, { from: 0, to: records, of, progress })
  const newest = of(records - 1).timestamp
  const oldest = of(0).timestamp
  const long = { accountId: ACCOUNT, deviceId: 'long', limit: PAGE } as const
  const newestPageMicros = await timed(READS, async () => {
    const page = await store.pagePositions({ ...long, order: 'desc' })
    if (page.length !== PAGE) throw new Error('the newest page is not full')
  })
  const pageMicros = await timed(READS, async () => {
    const from = oldest + Math.random() * 0.9 * (newest - oldest)
    const page = await store.pagePositions({ ...long, order: 'asc', from })
    if (page.length !== PAGE) throw new Error('a page in the middle is not full')
  })
  return { records, filledPerSecond: perSecond, newestPageMicros, pageMicros }
}

async function fill(
  store: Store,
  {
    from,
    to,
    of,
    progress,
  }: { from: number; to: number; of: (n: number) => PositionReported; progress: Progress },
) {
  const generation: Generation = await store.openGeneration(1)
  const watch = stopwatch()
  for (let next = from; next < to; next += BATCH) {
    const count = Math.min(BATCH, to - next)
    const entries = Array.from({ length: count }, (_, at): PositionEntry => {
      // Offsets of the embedded log begin at 1.
      return {
        kind: 'position',
        origin: { partition: 0, offset: next + at + 1 },
        event: of(next + at),
      }
    })
    const lastOffset = next + count
    await generation.project({ partition: 0, lastOffset, entries, fold: deviceStatus })
    watch.count(count)
    if (lastOffset % SAID_EVERY === 0) progress(`${lastOffset} of ${to} are in the store`)
    // Hears when the bench has ended.
    await endOfTurn()
  }
  await generation.close()
  return watch.read()
}

/** Microseconds that a call takes: the median, the first tenth left out. */
async function timed(times: number, call: () => Promise<void>): Promise<number> {
  const micros: number[] = []
  for (let time = 0; time < times; time += 1) {
    const begin = performance.now()
    await call()
    if (time >= times / 10) micros.push((performance.now() - begin) * 1000)
  }
  return median(micros)
}
