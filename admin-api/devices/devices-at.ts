import { invalidParams } from '../../runtime/errors.ts'
import { turnTaker } from '../../runtime/end-of-turn.ts'
import { readPages } from '../../runtime/process/read-pages.ts'
import { isSelected } from '../../schemas/definitions/selection.ts'
import { livenessOf } from '../../schemas/devices/liveness.ts'
import type { Device, PositionRecord } from '../../schemas/devices/read-models.ts'
import { hasEntered } from '../../schemas/geo/area-sides.ts'
import type { GeofenceIndex } from '../../schemas/geo/geofence-index.ts'
import { seenAt, trueAt } from '../../schemas/geo/position-order.ts'
import type { DevicePlace, DeviceQuery } from '../../store/read-models.ts'
import type { Store } from '../../store/store.ts'
import type { AdminContext } from '../http/admin-route.ts'
import { answerInParts } from '../http/answer-in-parts.ts'
import type { Caller } from '../http/caller.ts'
import { readCursor, writeCursor, type List } from '../http/cursor.ts'
import { requireRight } from '../http/rights.ts'
import { isoTime, positionView } from '../http/views.ts'
import type { AccountGeofences } from '../places/account-geofences.ts'
import { deviceView } from './device-view.ts'

export type MomentDependencies = { readonly geofences: Pick<AccountGeofences, 'of'> }

/** The filters that apply to the requested time; the store's query has the other ones. */
type Wanted = Pick<DeviceQuery, 'bbox'> & {
  readonly at: number
  readonly limit: number
  readonly cursor?: string | undefined
  readonly status?: string
  readonly geofenceId?: string
  readonly keyId?: string
  readonly ruleId?: string
  readonly sort?: string
}

/** Devices read per event-loop turn. */
const READ_AT_ONCE = 250
/** Same limit as for events: if more geofences contain a position, the smallest count. */
const MOST_INSIDE = 100

/** Sends a page of the devices as of a past moment. */
export async function listDevicesAt(
  ctx: AdminContext,
  caller: Caller,
  {
    list,
    query,
    wanted,
  }: {
    readonly list: List
    readonly query: Omit<DeviceQuery, 'accountId' | 'limit'>
    readonly wanted: Wanted
  },
  { store, geofences: known }: MomentDependencies & { readonly store: Store },
): Promise<void> {
  requireRight(caller, { needs: 'viewer', scope: 'positions:read' })
  refuseUnknownThen(wanted)
  const { accountId } = caller
  const { at, limit, cursor } = wanted
  const [deviceId, value] = readCursor(cursor, list, ['text', 'number or none']) ?? []
  const start = deviceId === undefined || value === undefined ? {} : { after: { deviceId, value } }
  let last: DevicePlace | undefined
  let hasMore = false

  async function* parts(): AsyncGenerator<object[], void> {
    const geofences = await known.of(accountId)
    const turnEnds = turnTaker()
    let room = limit
    const pages = readPages<DevicePlace>(READ_AT_ONCE, (page) =>
      store.placeDevices({ accountId, ...query, ...start, ...page }),
    )
    for await (const page of pages) {
      const deviceIds = page.map((place) => place.deviceId)
      const devices = await store.findDevices({ accountId, deviceIds })
      const records = await store.findLastPositions({ accountId, deviceIds, before: at + 1 })
      const deviceOf = new Map(devices.map((device) => [device.status.deviceId, device]))
      const recordOf = new Map(records.map((record) => [record.deviceId, record]))
      const shown: object[] = []
      for (const place of page) {
        const device = deviceOf.get(place.deviceId)
        if (device === undefined) continue
        await turnEnds()
        const view = viewDeviceAt(device, recordOf.get(place.deviceId), { at, geofences })
        if (!isWanted(view, wanted)) continue
        hasMore = room === 0
        if (hasMore) break
        shown.push(view)
        last = place
        room -= 1
      }
      yield shown
      if (hasMore) return
    }
  }

  await answerInParts(ctx, {
    name: 'items',
    parts: parts(),
    after: () => ({
      nextCursor:
        hasMore && last !== undefined ? writeCursor(list, [last.deviceId, last.value]) : null,
    }),
  })
}

/** @throws {ApiError} 400 for filters by what no record tells. */
function refuseUnknownThen({ keyId, ruleId, sort }: Wanted): void {
  const isByTime = sort?.endsWith('lastSeenAt') === true
  const unknown = { keyId, ruleId, sort: isByTime ? sort : undefined }
  const faults = Object.entries(unknown)
    .filter(([, value]) => value !== undefined)
    .map(([field, value]) => ({
      field,
      message: `${field}${field === 'sort' ? `=${value}` : ''} cannot be combined with at, because only the present is known: leave one of them out`,
    }))
  if (faults.length > 0) throw invalidParams(faults)
}

type ViewAt = ReturnType<typeof viewDeviceAt>

/** Returns the device as of its last record at that time; without a record, as not yet reported. */
function viewDeviceAt(
  { status, settings }: Device,
  record: PositionRecord | undefined,
  { at, geofences }: { readonly at: number; readonly geofences: GeofenceIndex },
) {
  const view = { ...deviceView({ status, settings }, at), telemetry: undefined }
  if (record === undefined) {
    const unknown = { lastPosition: undefined, lastSeenAt: undefined, lastKeyId: undefined }
    return { ...view, ...unknown, status: 'offline' as const, inside: [] }
  }
  const lastSeenAt = record.receivedAt <= at ? seenAt(record) : trueAt(record)
  const { expectedIntervalSeconds } = settings
  const device = { deviceId: record.deviceId, labels: settings.labels ?? [] }
  const inside: string[] = []
  for (const { geofence, areas } of geofences.around(record)) {
    if (!isSelected(geofence, device) || !hasEntered(areas, record)) continue
    inside.push(geofence.id)
    if (inside.length === MOST_INSIDE) break
  }
  return {
    ...view,
    status: livenessOf({ lastSeenAt, expectedIntervalSeconds }, at),
    lastSeenAt: isoTime(lastSeenAt),
    lastPosition: positionView(record),
    lastKeyId: record.imported === true ? undefined : record.keyId,
    inside,
  }
}

function isWanted(view: ViewAt, { status, geofenceId, bbox }: Wanted): boolean {
  if (status !== undefined && view.status !== status) return false
  if (geofenceId !== undefined && !view.inside.some((id) => id === geofenceId)) return false
  if (bbox === undefined) return true
  if (view.lastPosition === undefined) return false
  const { latitude, longitude } = view.lastPosition
  const { west, south, east, north } = bbox
  if (latitude < south || latitude > north) return false
  return west <= east
    ? longitude >= west && longitude <= east
    : longitude >= west || longitude <= east
}
