import type { OutageLogger } from '../../runtime/process/outage.ts'
import { repeatUntilSuccess } from '../../runtime/process/repeat.ts'
import { READ, type Erased, type ReadModelCollections } from './collections.ts'
import type { DeviceName } from './device-documents.ts'
import { erasedRecordFilters } from './erased.ts'

type Marked = Pick<ReadModelCollections, 'positions' | 'deviceStatuses'>

const LOOKED_AT_AT_ONCE = 1_000

export type Removal = {
  /** Removes the marked records in these read models, after earlier removals. */
  begin(readModels: Marked): void
  /** Resolves when no removal is running. */
  ended(): Promise<void>
}

/**
 * Removes erased records in the background: a device may have reported for years, and its partition
 * does not wait for the removal. A removal interrupted by `signal` stays marked and continues at
 * the next start.
 */
export function backgroundRemoval(options: { logger: OutageLogger; signal: AbortSignal }): Removal {
  let underWay = Promise.resolve()
  const failure = 'could not remove the records of erased devices; retrying'
  return {
    begin(readModels) {
      const remove = () => removeErased(readModels, options.signal)
      underWay = underWay.then(() => repeatUntilSuccess(remove, { ...options, failure }))
    },
    ended: () => underWay,
  }
}

/**
 * Removes the records of every device marked with `removing`, and then the mark; rejects when
 * interrupted by `signal`.
 */
export async function removeErased(
  { positions, deviceStatuses }: Marked,
  signal?: AbortSignal,
): Promise<void> {
  for (;;) {
    const device = await deviceStatuses.findOne({ removing: { $exists: true } }, READ)
    if (device === null) return
    const { _id, accountId, deviceId, erased, removing = '' } = device
    if (erased !== undefined) await removeHistory(positions, { ...device, erased }, signal)
    // A device erased again in the meantime has a different mark.
    await deviceStatuses.updateOne(
      { _id, accountId, deviceId, removing },
      { $unset: { removing: true } },
    )
  }
}

/**
 * In steps along the index of its history. Records written late into a finished part are removed by
 * the projector that wrote them.
 */
async function removeHistory(
  positions: ReadModelCollections['positions'],
  { accountId, deviceId, erased }: DeviceName & { readonly erased: Erased },
  signal: AbortSignal | undefined,
): Promise<void> {
  const device = { accountId, deviceId }
  // No report has an earlier time.
  let isLast = false
  for (let from = new Date(0); !isLast;) {
    signal?.throwIfAborted()
    const last = await positions.findOne(
      { ...device, timestamp: { $gt: from } },
      {
        sort: { timestamp: 1, _id: 1 },
        skip: LOOKED_AT_AT_ONCE - 1,
        projection: { timestamp: 1 },
        ...READ,
      },
    )
    const upTo = last === null ? {} : { $lte: last.timestamp }
    await positions.deleteMany({
      ...device,
      timestamp: { $gt: from, ...upTo },
      $or: erasedRecordFilters(erased),
    })
    isLast = last === null
    from = last?.timestamp ?? from
  }
}
