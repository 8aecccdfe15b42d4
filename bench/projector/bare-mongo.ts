import { MongoClient } from 'mongodb'
import { stopwatch, type Speed } from './speed.ts'

/** As the service writes. */
const OPTIONS = { writeConcern: { w: 'majority', journal: true } } as const
type Stored = { readonly _id: string; readonly deviceId: string }

const POSITIONS = 'positions_g1'
const STATUSES = 'device_status_g1'

/**
 * Writes the documents of one database into another with the driver alone, in two calls a batch: new positions,
 * then the statuses of their devices, each by its id. `batches`: their sizes.
 */
export async function writeMongoAgain(
  { from, to }: { readonly from: string; readonly to: string },
  batches: readonly number[],
): Promise<Speed> {
  const [source, target] = [new MongoClient(from), new MongoClient(to, OPTIONS)]
  try {
    const read = (name: string) => source.db().collection<Stored>(name).find()
    const written = (name: string) => target.db().collection<Stored>(name)
    const positions = await read(POSITIONS)
      .sort({ 'origin.partition': 1, 'origin.offset': 1 })
      .toArray()
    const statuses = new Map<string, Stored>()
    for await (const one of read(STATUSES)) statuses.set(one.deviceId, one)
    const watch = stopwatch()
    let at = 0
    for (const size of batches) {
      const batch = positions.slice(at, (at += size))
      await written(POSITIONS).insertMany(batch, { ordered: false })
      const own = [...new Set(batch.map(({ deviceId }) => deviceId))].flatMap(
        (device) => statuses.get(device) ?? [],
      )
      await written(STATUSES).bulkWrite(
        own.map(({ _id, ...replacement }) => ({
          replaceOne: { filter: { _id }, replacement, upsert: true },
        })),
        { ordered: false },
      )
      watch.count(size)
    }
    return watch.read()
  } finally {
    await source.close()
    await target.close()
  }
}
