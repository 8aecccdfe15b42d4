import type { Collection, Document, Filter } from 'mongodb'
import { deviceKey } from '../../schemas/events/position-reported.ts'
import type { RankedDevice } from '../device-ranking.ts'
import type { DeviceQuery } from '../read-models.ts'
import { READ, type DeviceSettingsDocument, type DeviceStatusDocument } from './collections.ts'

/** Decoding more in one turn would block other work. */
const ROWS_AT_ONCE = 1_000

/** The field of a status that devices are sorted by, unless it is computed from words. */
export const SORT_FIELDS = {
  deviceId: undefined,
  match: undefined,
  lastSeenAt: 'lastSeenAt',
  firstSeenAt: 'firstSeenAt',
} as const satisfies Readonly<Record<NonNullable<DeviceQuery['sort']>, string | undefined>>

type Narrow = { readonly deviceId: string; readonly value?: Date }

/** The rows of `ranksAmong`: along the index of the ids, with each part's names read by range. */
export async function* deviceRows(
  page: DeviceQuery,
  {
    deviceStatuses,
    deviceSettings,
    bounds,
    joining,
  }: {
    deviceStatuses: Collection<DeviceStatusDocument>
    deviceSettings: Collection<DeviceSettingsDocument>
    bounds: readonly Filter<DeviceStatusDocument>[]
    joining: readonly Document[]
  },
): AsyncGenerator<readonly RankedDevice[]> {
  const { accountId, sort = 'deviceId', order = 'asc', words } = page
  const field = SORT_FIELDS[sort]
  const direction = order === 'asc' ? 1 : -1
  for (let last: string | undefined; ;) {
    const ahead =
      last === undefined ? [] : [{ deviceId: { [order === 'asc' ? '$gt' : '$lt']: last } }]
    const statuses = await deviceStatuses
      .aggregate<Narrow>(
        [
          { $match: { accountId, $and: [...bounds, ...ahead] } },
          { $sort: { deviceId: direction } },
          ...joining,
          { $limit: ROWS_AT_ONCE },
          { $project: { _id: 0, deviceId: 1, ...(field !== undefined && { value: `$${field}` }) } },
        ],
        READ,
      )
      .toArray()
    const names = words === undefined ? new Map<string, string>() : await readNames(statuses)
    yield statuses.map(({ deviceId, value }): RankedDevice => {
      return [deviceId, names.get(deviceId) ?? null, value?.getTime() ?? null]
    })
    last = statuses.at(-1)?.deviceId
    if (statuses.length < ROWS_AT_ONCE) return
  }

  async function readNames(statuses: readonly Narrow[]): Promise<ReadonlyMap<string, string>> {
    const keys = statuses.map(({ deviceId }) => deviceKey({ accountId, deviceId }))
    const [first = '', end = ''] = [keys[0], keys.at(-1)]
    // Among few matching devices there may be many others.
    const isFew = keys.length < ROWS_AT_ONCE
    const range = order === 'asc' ? { $gte: first, $lte: end } : { $gte: end, $lte: first }
    const found = await deviceSettings
      .find({ _id: isFew ? { $in: keys } : range, name: { $exists: true } }, READ)
      .project<{ deviceId: string; name: string }>({ _id: 0, deviceId: 1, name: 1 })
      .toArray()
    return new Map(found.map(({ deviceId, name }) => [deviceId, name]))
  }
}
