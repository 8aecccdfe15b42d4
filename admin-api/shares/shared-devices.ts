import { endOfTurn } from '../../runtime/end-of-turn.ts'
import type { LastPosition, PositionRecord } from '../../schemas/devices/read-models.ts'
import type { Share } from '../../store/back-office.ts'
import type { Store } from '../../store/store.ts'
import { LeapFilter } from '../../schemas/geo/leap-filter.ts'
import { earthPointOf, type EarthPoint } from '../../schemas/geo/earth-point.ts'
import { ThinnedTrack } from '../devices/track/thinned-track.ts'
import { PLACE, type NameOf, type PlaceView } from '../places/place-names.ts'
import type { JsonSchema } from '../http/admin-route.ts'
import { isoTime, TIME } from '../http/views.ts'
import type { SharedName } from './share-view.ts'

const MINUTE_MS = 60_000
const READ_AT_ONCE = 1_000
/**
 * The limit for all devices of a share together, because anybody with the link may request them.
 */
const RECORDS_READ = 100_000
const TRAIL_POINTS = 200

/** A position as a share shows it: no ids, nothing of the account. */
export function sharedPosition(
  { ref, name }: SharedName,
  position: Pick<LastPosition, 'latitude' | 'longitude' | 'timestamp' | 'heading' | 'speed'>,
  place: PlaceView | null,
) {
  const { latitude, longitude, timestamp, heading, speed } = position
  return {
    ref,
    name,
    latitude,
    longitude,
    timestamp: isoTime(timestamp),
    place,
    ...(heading !== undefined && { heading }),
    ...(speed !== undefined && { speed }),
  }
}

/**
 * Whether a share shows a position: it was received, and its timestamp is, after the share was
 * created.
 */
export function isSince(
  { createdAt }: Pick<Share, 'createdAt'>,
  { timestamp, receivedAt }: Pick<LastPosition, 'timestamp' | 'receivedAt'>,
): boolean {
  return timestamp >= createdAt && receivedAt >= createdAt
}

/**
 * The positions of a share's devices, and their trails if the share shows any. A device that has
 * not reported since the share was created is at its last known position, if the share shows that.
 */
export async function sharedDevices(
  share: Share,
  names: ReadonlyMap<string, SharedName>,
  { store, now, nameOf }: { store: Store; now: number; nameOf: NameOf },
) {
  const { accountId, devices, trailMinutes, createdAt } = share
  const knownDevices = await store.findDevices({ accountId, deviceIds: [...names.keys()] })
  const statuses = new Map(knownDevices.map(({ status }) => [status.deviceId, status]))
  const from = Math.max(createdAt, now - trailMinutes * MINUTE_MS)
  const items = []
  for (const { deviceId, lastKnown } of devices) {
    const [status, named] = [statuses.get(deviceId), names.get(deviceId)]
    if (status === undefined || named === undefined) continue
    // If any position is newer than the share, the last position is.
    const isCurrent = isSince(share, status.lastPosition)
    const position = isCurrent
      ? status.lastPosition
      : lastKnown && (await store.findPosition({ accountId, recordId: lastKnown }))
    if (!position) continue
    const device = { share, deviceId, from, most: RECORDS_READ / devices.length }
    const trail = trailMinutes > 0 && { trail: isCurrent ? await readTrail(device, store) : [] }
    items.push({ ...sharedPosition(named, position, await nameOf(position)), ...trail })
  }
  return items
}

/** Reads backwards from the newest record, up to `most` records. */
async function readTrail(
  { share, deviceId, from, most }: { share: Share; deviceId: string; from: number; most: number },
  store: Pick<Store, 'pagePositions'>,
) {
  const device = { accountId: share.accountId, deviceId, from }
  const track = new ThinnedTrack<PositionRecord>({ limit: TRAIL_POINTS, gapMs: Infinity })
  // Positions are read backwards, but the filter only works forwards.
  const leaps = new LeapFilter<{ timestamp: number; place: EarthPoint; record: PositionRecord }>(
    ({ place, record }) => track.add(record, record.timestamp, place),
  )
  let read = 0
  let after: PositionRecord | undefined
  do {
    const limit = Math.min(READ_AT_ONCE, Math.ceil(most) - read)
    const page = await store.pagePositions({
      ...device,
      order: 'desc',
      limit,
      ...(after !== undefined && { after }),
    })
    read += page.length
    for (const record of page) {
      if (!isSince(share, record)) continue
      const place = earthPointOf(record.latitude, record.longitude)
      leaps.add({ timestamp: -record.timestamp, place, record })
    }
    after = page.length < limit ? undefined : page.at(-1)
    await endOfTurn()
  } while (after !== undefined && read < most)
  leaps.end()
  return track
    .records()
    .reverse()
    .map(({ timestamp, latitude, longitude }) => ({
      timestamp: isoTime(timestamp),
      latitude,
      longitude,
    }))
}

const POSITION: JsonSchema = {
  latitude: { type: 'number', minimum: -90, maximum: 90 },
  longitude: { type: 'number', minimum: -180, maximum: 180 },
  timestamp: { ...TIME, description: 'When the position was recorded' },
}

export const SHARED_DEVICE: JsonSchema = {
  title: 'SharedDevice',
  type: 'object',
  required: ['ref', 'name', 'place', ...Object.keys(POSITION)],
  properties: {
    ref: { type: 'string', description: 'Identifies the device within this share' },
    name: { type: 'string' },
    ...POSITION,
    place: PLACE,
    heading: { type: 'number', description: 'Degrees clockwise from north' },
    speed: { type: 'number', description: 'Metres per second' },
    trail: {
      type: 'array',
      description: `From the oldest; at most ${TRAIL_POINTS} places`,
      items: {
        title: 'SharedPlace',
        type: 'object',
        required: Object.keys(POSITION),
        properties: POSITION,
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
}
