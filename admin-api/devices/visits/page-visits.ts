import { readPages } from '../../../runtime/process/read-pages.ts'
import { isListed } from '../../../schemas/devices/device-id.ts'
import type { DevicePlace } from '../../../store/read-models.ts'
import type { Store } from '../../../store/store.ts'
import { readVisits, type AreaVisit, type VisitQuery } from './read-visits.ts'

/** A visit with the device's name and its rank (from 1) among that device's visits in the range. */
export type NumberedVisit = AreaVisit & { readonly nth: number; readonly name: string | undefined }

export type VisitsAsked = {
  readonly limit: number
  readonly after?: Pick<NumberedVisit, 'deviceId' | 'nth'>
}

type Query = Omit<VisitQuery, 'deviceIds'> &
  VisitsAsked & {
    readonly deviceId?: string
    readonly labels?: readonly string[]
    /** Only these: exact ids, and prefixes ending in `*`. */
    readonly devices?: readonly string[]
  }

/** Devices whose records are read together: the more, the closer they are in the file. */
const DEVICES_AT_ONCE = 5_000

/** A page of visits, by deviceId, then by time. */
export async function pageVisits(
  query: Query,
  {
    store,
    isWanted,
  }: {
    readonly store: Pick<Store, 'placeDevices' | 'findDevices' | 'findLastPositions' | 'readNear'>
    readonly isWanted: () => boolean
  },
): Promise<readonly NumberedVisit[]> {
  const { accountId, limit, after } = query
  const found: (AreaVisit & { nth: number })[] = []
  for await (const deviceIds of groupsOf(query, store)) {
    let nth = 0
    let before: string | undefined
    for (const visit of await readVisits({ ...query, deviceIds }, { store, isWanted })) {
      nth = visit.deviceId === before ? nth + 1 : 1
      before = visit.deviceId
      if (visit.deviceId === after?.deviceId && nth <= after.nth) continue
      found.push({ ...visit, nth })
      if (found.length === limit) break
    }
    if (found.length === limit || !isWanted()) break
  }
  const deviceIds = [...new Set(found.map(({ deviceId }) => deviceId))]
  const devices = await store.findDevices({ accountId, deviceIds })
  const names = new Map(devices.map(({ status, settings }) => [status.deviceId, settings.name]))
  return found.map((visit) => ({ ...visit, name: names.get(visit.deviceId) }))
}

/** Yields the requested devices' ids, starting with the last device of the previous page. */
async function* groupsOf(
  { accountId, deviceId, labels, devices, after }: Query,
  store: Pick<Store, 'placeDevices'>,
): AsyncGenerator<readonly string[], void> {
  if (after !== undefined && isListed(devices, after.deviceId)) yield [after.deviceId]
  const only = deviceId === undefined ? devices : [deviceId].filter((id) => isListed(devices, id))
  const query = { accountId, ...(only && { devices: only }), ...(labels && { labels }) }
  const start = after && { after: { deviceId: after.deviceId, value: null } }
  const pages = readPages<DevicePlace>(DEVICES_AT_ONCE, (page) =>
    store.placeDevices({ ...query, ...start, ...page }),
  )
  for await (const page of pages) {
    const deviceIds = page.map((place) => place.deviceId)
    // In a list of devices, an id that ends in `*` is a prefix.
    yield deviceId === undefined ? deviceIds : deviceIds.filter((id) => id === deviceId)
  }
}
