import type { Collection, Document, Filter } from 'mongodb'
import { SILENCE } from '../../schemas/devices/liveness.ts'
import type { DeviceInterval, DeviceQuery } from '../read-models.ts'
import { READ, type DeviceSettingsDocument, type DeviceStatusDocument } from './collections.ts'

/** Up to this number in an account, devices with an expected interval are listed by id. */
const NAMED = 1_000

/** An account's devices with an expected interval. */
export type OwnIntervals = {
  /** All such devices, unless there are very many. */
  readonly deviceIds: readonly string[] | undefined
  /** The shortest and the longest interval; empty if no device has one. */
  readonly seconds: readonly number[]
}

export async function intervalsOfSettings(
  deviceSettings: Collection<DeviceSettingsDocument>,
  accountId: string,
): Promise<OwnIntervals> {
  const find = (order: 1 | -1, limit: number) =>
    deviceSettings
      .find({ accountId, expectedIntervalSeconds: { $exists: true } }, READ)
      .sort({ expectedIntervalSeconds: order })
      .limit(limit)
      .project<DeviceInterval>({ _id: 0, deviceId: 1, expectedIntervalSeconds: 1 })
      .toArray()
  const shortest = await find(1, NAMED + 1)
  const isAll = shortest.length <= NAMED
  const ends = [...shortest.slice(0, 1), ...(isAll ? shortest.slice(-1) : await find(-1, 1))]
  return {
    deviceIds: isAll ? shortest.map(({ deviceId }) => deviceId) : undefined,
    seconds: ends.map(({ expectedIntervalSeconds }) => expectedIntervalSeconds),
  }
}

/**
 * Bounds for a status by the time of the last report, so that the settings of only a few devices are
 * joined. Exact if no device has an expected interval.
 */
export function statusFilter(
  status: NonNullable<DeviceQuery['status']>,
  { deviceIds, seconds }: OwnIntervals,
): Filter<DeviceStatusDocument> {
  if (deviceIds === undefined) return seenWithinFilter(status, [undefined, ...seconds])
  const usual = seenWithinFilter(status, [undefined])
  if (deviceIds.length === 0) return usual
  return {
    $or: [usual, { deviceId: { $in: [...deviceIds] }, ...seenWithinFilter(status, seconds) }],
  }
}

function seenWithinFilter(
  { is, now }: NonNullable<DeviceQuery['status']>,
  intervals: readonly (number | undefined)[],
): Filter<DeviceStatusDocument> {
  const silences = (name: keyof typeof SILENCE) => {
    const { longestMs, intervals: times, leastMs } = SILENCE[name]
    return intervals.map((own) =>
      own === undefined ? longestMs : Math.max(own * times * 1_000, leastMs),
    )
  }
  const since = (name: keyof typeof SILENCE) => ({
    $gte: new Date(Math.max(0, Math.floor(now - Math.max(...silences(name))))),
  })
  const before = (name: keyof typeof SILENCE) => ({
    $lt: new Date(Math.max(0, Math.ceil(now - Math.min(...silences(name))))),
  })
  switch (is) {
    case 'online':
      return { lastSeenAt: since('online') }
    case 'idle':
      return { lastSeenAt: { ...since('idle'), ...before('online') } }
    case 'offline':
      return { lastSeenAt: before('idle') }
  }
}

type Searched = {
  readonly [Filter in 'status' | 'labels']: DeviceQuery[Filter] | undefined
}

/**
 * Pipeline stages that filter devices, including by their settings and by the `status` derived from
 * these.
 */
export function searchStages({ status, labels }: Searched, settings: string): Document[] {
  if (status === undefined && labels === undefined) return []
  return [
    { $lookup: { from: settings, localField: '_id', foreignField: '_id', as: 'settings' } },
    { $set: { settings: { $first: '$settings' } } },
    { $match: { $and: [...livenessFilters(status), ...labelFilters(labels)] } },
    { $unset: 'settings' },
  ]
}

/** Index bounds for a list of ids and prefixes. */
export function boundIds(devices: readonly string[] | undefined): Filter<DeviceStatusDocument>[] {
  if (devices === undefined) return []
  const patterns = devices.map((one) =>
    one.endsWith('*') ? new RegExp(`^${escapePattern(one.slice(0, -1))}`) : one,
  )
  return [{ deviceId: { $in: patterns } }]
}

function labelFilters(labels: DeviceQuery['labels']): Document[] {
  return labels === undefined ? [] : [{ 'settings.labels': { $all: [...labels] } }]
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

function livenessFilters(status: DeviceQuery['status']): Document[] {
  if (status === undefined) return []
  const { is, now } = status
  const isAtMost = (name: keyof typeof SILENCE) => {
    const { longestMs, intervals, leastMs } = SILENCE[name]
    const interval = '$settings.expectedIntervalSeconds'
    return {
      $lte: [
        { $subtract: [new Date(now), '$lastSeenAt'] },
        {
          $cond: [
            { $isNumber: interval },
            { $max: [{ $multiply: [interval, intervals * 1_000] }, leastMs] },
            longestMs,
          ],
        },
      ],
    }
  }
  const [online, idle] = [isAtMost('online'), isAtMost('idle')]
  switch (is) {
    case 'online':
      return [{ $expr: online }]
    case 'idle':
      return [{ $expr: { $and: [idle, { $not: [online] }] } }]
    case 'offline':
      return [{ $expr: { $not: [idle] } }]
  }
}
