import type { Filter } from 'mongodb'
import { deviceKey } from '../../schemas/events/position-reported.ts'
import type { Device } from '../../schemas/devices/read-models.ts'
import { isRanked, readPageAt, rankAmong } from '../device-ranking.ts'
import type { DeviceQuery, DevicePlace, Devices } from '../read-models.ts'
import {
  READ,
  type Collections,
  type DeviceStatusDocument,
  type ReadModelCollections,
} from './collections.ts'
import { countDevices } from './count-devices.ts'
import { deviceStatusOf } from './device-documents.ts'
import { deviceRows, SORT_FIELDS } from './device-rows.ts'
import { changeLabels, countLabels, devicesLabelled } from './device-labels.ts'
import { boundIds, intervalsOfSettings, searchStages, statusFilter } from './device-search.ts'
import { mongoDeviceSettings, settingsOf } from './device-settings.ts'
import { pendingErasures } from './hidden-devices.ts'
import type { Kept } from './retention.ts'

export function mongoDevices({
  collections: { deviceSettings, hiddenDevices },
  readModels,
  kept,
}: {
  collections: Collections
  readModels: () => Promise<ReadModelCollections>
  kept: () => Promise<Kept>
}): Devices {
  async function findDevices({ accountId, deviceIds }: Parameters<Devices['findDevices']>[0]) {
    const { deviceStatuses } = await readModels()
    const devices = { accountId, deviceIds }
    const pending = await pendingErasures({ hiddenDevices, deviceStatuses }, devices)
    const asked = deviceIds.filter((deviceId) => !pending.has(deviceId))
    if (asked.length === 0) return []
    const found = await deviceStatuses
      .find({
        ...(await kept()).deviceStatuses,
        _id: { $in: asked.map((deviceId) => deviceKey({ accountId, deviceId })) },
        accountId,
        deviceId: { $in: asked },
      })
      .hint({ _id: 1 })
      .maxTimeMS(READ.maxTimeMS)
      .toArray()
    return joinSettings(found)
  }

  async function joinSettings(statuses: readonly DeviceStatusDocument[]): Promise<Device[]> {
    const made = await deviceSettings
      .find({ _id: { $in: statuses.map(({ _id }) => _id) } }, READ)
      .toArray()
    const settings = new Map(made.map((document) => [document._id, document]))
    return statuses.flatMap((document) => {
      const status = deviceStatusOf(document)
      return status === undefined
        ? []
        : [{ status, settings: settingsOf(settings.get(document._id)) }]
    })
  }

  /** Builds the bounds for a page's filters, and the stages for filters that need settings. */
  async function buildFilter(page: DeviceQuery, deviceStatuses: Statuses) {
    const { accountId, status, labels, keyId } = page
    const pending = await pendingErasures({ hiddenDevices, deviceStatuses }, { accountId })
    const bounds = [
      (await kept()).deviceStatuses,
      ...seenBounds(page),
      ...boxBounds(page),
      ...boundIds(page.devices),
      ...(keyId === undefined ? [] : [{ lastKeyId: keyId }]),
    ]
    if (pending.size > 0) bounds.push({ deviceId: { $nin: [...pending.keys()] } })
    const labelled = labels && (await devicesLabelled(deviceSettings, { accountId, labels }))
    if (labelled !== undefined) bounds.push({ deviceId: { $in: labelled } })
    const own = status && (await intervalsOfSettings(deviceSettings, accountId))
    if (status !== undefined && own !== undefined) bounds.push(statusFilter(status, own))
    const joined = {
      status: own?.seconds.length === 0 ? undefined : status,
      labels: labelled === undefined ? labels : undefined,
    }
    return { bounds, joining: searchStages(joined, deviceSettings.collectionName) }
  }

  async function placeDevices(page: DeviceQuery): Promise<DevicePlace[]> {
    const { accountId, limit, sort = 'deviceId', order = 'asc' } = page
    const { deviceStatuses } = await readModels()
    const { bounds, joining } = await buildFilter(page, deviceStatuses)
    if (isRanked(page)) {
      const walk = deviceRows(page, { deviceStatuses, deviceSettings, bounds, joining })
      return rankAmong(page, { walk, isInOrder: sort === 'deviceId' })
    }
    const direction = order === 'asc' ? 1 : -1
    const field = SORT_FIELDS[sort]
    const places = await deviceStatuses
      .aggregate<{ deviceId: string; value?: Date }>(
        [
          { $match: { accountId, $and: [...bounds, ...boundsAfter(page)] } },
          { $sort: { ...(field !== undefined && { [field]: direction }), deviceId: direction } },
          ...joining,
          { $limit: limit },
          { $project: { _id: 0, deviceId: 1, ...(field !== undefined && { value: `$${field}` }) } },
        ],
        READ,
      )
      .toArray()
    return places.map(({ deviceId, value }) => ({ deviceId, value: value?.getTime() ?? null }))
  }

  return {
    findDevices,

    findDevice: async ({ accountId, deviceId }) =>
      (await findDevices({ accountId, deviceIds: [deviceId] }))[0],

    async isDisabled(device) {
      const { accountId, deviceId } = device
      const disabled = await deviceSettings.findOne(
        { _id: deviceKey(device), disabled: true },
        READ,
      )
      if (disabled === null) return false
      const { deviceStatuses } = await readModels()
      const devices = { accountId, deviceIds: [deviceId] }
      return (await pendingErasures({ hiddenDevices, deviceStatuses }, devices)).size === 0
    },

    placeDevices,

    pageDevices: (page) =>
      readPageAt(page, {
        place: placeDevices,
        find: (deviceIds) => findDevices({ accountId: page.accountId, deviceIds }),
      }),

    async countDevices(query) {
      const { accountId } = query
      const { deviceStatuses } = await readModels()
      const pending = await pendingErasures({ hiddenDevices, deviceStatuses }, { accountId })
      return countDevices(query, {
        collections: { deviceStatuses, deviceSettings },
        kept: await kept(),
        hidden: [...pending.keys()],
      })
    },

    changeLabels: (change) => changeLabels(deviceSettings, change),

    async countLabels(query) {
      const { accountId } = query
      const { deviceStatuses } = await readModels()
      const pending = await pendingErasures({ hiddenDevices, deviceStatuses }, { accountId })
      return countLabels(deviceSettings, query, [...pending.keys()])
    },

    ...mongoDeviceSettings({ deviceSettings }),
  }
}

type Statuses = ReadModelCollections['deviceStatuses']
type Bounds = Filter<DeviceStatusDocument>[]

/** Matches devices after the end of the previous page. */
function boundsAfter({ sort = 'deviceId', order = 'asc', after }: DeviceQuery): Bounds {
  if (after === undefined) return []
  const ahead = order === 'asc' ? '$gt' : '$lt'
  const further = { deviceId: { [ahead]: after.deviceId } }
  if (sort === 'deviceId') return [further]
  const lastSeenAt = new Date(Number(after.value))
  // The second bound implies the first, which lets the index scan start at this position.
  return [
    { lastSeenAt: { [`${ahead}e`]: lastSeenAt } },
    { $or: [{ lastSeenAt: { [ahead]: lastSeenAt } }, further] },
  ]
}

function seenBounds({ sort, seenFrom, seenBefore }: DeviceQuery): Bounds {
  const bounds: Bounds = []
  if (seenFrom !== undefined) bounds.push({ lastSeenAt: { $gte: new Date(seenFrom) } })
  if (seenBefore !== undefined) bounds.push({ lastSeenAt: { $lt: new Date(seenBefore) } })
  // Erased devices have no time and are all at one end of the index: skip them.
  if (sort === 'lastSeenAt') bounds.push({ lastSeenAt: { $gte: new Date(0) } })
  return bounds
}

function boxBounds({ bbox }: DeviceQuery): Bounds {
  if (bbox === undefined) return []
  const { west, south, east, north } = bbox
  const longitude = 'lastPosition.longitude'
  return [
    { 'lastPosition.latitude': { $gte: south, $lte: north } },
    west <= east
      ? { [longitude]: { $gte: west, $lte: east } }
      : { $or: [{ [longitude]: { $gte: west } }, { [longitude]: { $lte: east } }] },
  ]
}
