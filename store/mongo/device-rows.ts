import type { Collection, Document, Filter } from 'mongodb'
import { labelsValue, statusOrder, type SortValue } from '../../schemas/device-order.ts'
import { deviceKey } from '../../schemas/position-reported.ts'
import { needsNames, type DeviceRow } from '../device-ranking.ts'
import type { DevicePage } from '../read-models.ts'
import { READ, type DeviceSettingsDocument, type DeviceStatusDocument } from './collections.ts'
import { settingsOf } from './device-settings.ts'

/** Decoding more in one turn would keep other work waiting. */
const ROWS_AT_ONCE = 5_000

type Sort = NonNullable<DevicePage['sort']>

/** The fields of a status that devices are sorted by; those left out are made from settings or words. */
const SORT_FIELDS: Readonly<Partial<Record<Sort, string>>> = {
  status: 'lastSeenAt',
  lastSeenAt: 'lastSeenAt',
  speed: 'lastPosition.speed',
  timestamp: 'lastPosition.timestamp',
  battery: 'lastPosition.battery',
  reportCount: 'reportCount',
  firstSeenAt: 'firstSeenAt',
}

/** The fields of the settings that a sort needs. */
const SETTINGS_FIELDS: Readonly<Partial<Record<Sort, readonly string[]>>> = {
  status: ['disabled', 'expectedIntervalSeconds'],
  labels: ['labels'],
}

type Narrow = { readonly deviceId: string; readonly value?: number | Date }

/** The rows of `rankedPage`: along the index of the ids, with the settings of each part read by their range. */
export async function* deviceRows(
  page: DevicePage,
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
): AsyncGenerator<readonly DeviceRow[]> {
  const { accountId, sort = 'deviceId', order = 'asc', now = NaN } = page
  const field = SORT_FIELDS[sort]
  const wanted = [...(needsNames(page) ? ['name'] : []), ...(SETTINGS_FIELDS[sort] ?? [])]
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
    const settings = await settingsAmong(statuses)
    yield statuses.map(({ deviceId, value }): DeviceRow => {
      const own = settings.get(deviceId)
      return [deviceId, own?.name ?? null, sortValue(value, own)]
    })
    last = statuses.at(-1)?.deviceId
    if (statuses.length < ROWS_AT_ONCE) return
  }

  async function settingsAmong(statuses: readonly Narrow[]) {
    if (wanted.length === 0) return new Map<string, DeviceSettingsDocument>()
    const keys = statuses.map(({ deviceId }) => deviceKey({ accountId, deviceId }))
    const [first = '', end = ''] = [keys[0], keys.at(-1)]
    // Among few devices there may be many others.
    const isFew = keys.length < ROWS_AT_ONCE
    const range = order === 'asc' ? { $gte: first, $lte: end } : { $gte: end, $lte: first }
    const found = await deviceSettings
      .find(
        {
          _id: isFew ? { $in: keys } : range,
          $or: wanted.map((name) => ({ [name]: { $exists: true } })),
        },
        READ,
      )
      .project<DeviceSettingsDocument>({
        _id: 0,
        deviceId: 1,
        ...Object.fromEntries(wanted.map((name) => [name, 1])),
      })
      .toArray()
    return new Map(found.map((document) => [document.deviceId, document]))
  }

  function sortValue(value: Narrow['value'], own: DeviceSettingsDocument | undefined): SortValue {
    if (sort === 'labels') return labelsValue(own?.labels)
    const number = value instanceof Date ? value.getTime() : (value ?? null)
    if (sort !== 'status') return number
    const { disabled, expectedIntervalSeconds } = settingsOf(own)
    return statusOrder({ disabled, expectedIntervalSeconds, lastSeenAt: number ?? 0 }, now)
  }
}
