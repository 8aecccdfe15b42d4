import { objectOf, type JsonSchema } from '../../runtime/openapi/json-schema.ts'
import { isListed } from '../../schemas/device-id.ts'
import type { DeviceSince } from '../../store/facts.ts'
import type { Store } from '../../store/store.ts'
import type { AdminContext, Input } from '../http/admin-route.ts'
import { answerPage, pageOf } from '../http/answer-page.ts'
import { deviceList, type Caller } from '../http/caller.ts'
import { readCursor } from '../http/cursor.ts'
import type { PageQuery } from '../http/query.ts'
import { isoTime } from '../http/views.ts'
import { SINCE } from './standings.ts'

type Stores = Pick<Store, 'devicesWith' | 'findDevices' | 'findGeofence' | 'findRule'>

/** Devices in a geofence, or for which a rule is raised, that the caller may see; none of one that is disabled or gone. */
export async function devicesOf(
  store: Omit<Stores, 'findDevices'>,
  caller: Caller,
  { geofenceId, ruleId }: { readonly geofenceId?: string; readonly ruleId?: string },
): Promise<readonly DeviceSince[]> {
  const { accountId } = caller
  const lists: (readonly DeviceSince[])[] = []
  if (geofenceId !== undefined) {
    const geofence = await store.findGeofence({ accountId, id: geofenceId })
    const isOn = geofence?.enabled === true
    lists.push(isOn ? await store.devicesWith({ accountId, definitionId: geofence.id }) : [])
  }
  if (ruleId !== undefined) {
    const rule = await store.findRule({ accountId, id: ruleId })
    const isOn = rule?.enabled === true
    const query = isOn && { accountId, definitionId: rule.id, revision: rule.revision }
    lists.push(query === false ? [] : await store.devicesWith(query))
  }
  const [first = [], ...others] = lists
  const inOthers = others.map((list) => new Set(list.map(({ deviceId }) => deviceId)))
  const visible = deviceList(caller)
  return first.filter(
    ({ deviceId }) => isListed(visible, deviceId) && inOthers.every((ids) => ids.has(deviceId)),
  )
}

/** Answers a page of the devices in a geofence, or for which a rule is raised. */
export async function answerDevicesWith(
  ctx: AdminContext,
  caller: Caller,
  {
    store,
    query: { limit, cursor },
    definition,
  }: {
    readonly store: Stores
    readonly query: Input<PageQuery>['query']
    readonly definition: { readonly geofenceId: string } | { readonly ruleId: string }
  },
): Promise<void> {
  const { accountId } = caller
  const list = { name: 'devices of a definition', accountId, filter: definition }
  const [after] = readCursor(cursor, list, ['text']) ?? []
  const all = await devicesOf(store, caller, definition)
  const left = after === undefined ? all : all.filter(({ deviceId }) => deviceId > after)
  const some = left.slice(0, limit + 1)
  const deviceIds = some.map(({ deviceId }) => deviceId)
  const devices = await store.findDevices({ accountId, deviceIds })
  const names = new Map(devices.map(({ status, settings }) => [status.deviceId, settings.name]))
  await answerPage(ctx, {
    list,
    limit,
    items: some,
    placeOf: ({ deviceId }) => [deviceId],
    view: ({ deviceId, since }) => ({
      deviceId,
      name: names.get(deviceId) ?? null,
      since: since === null ? null : isoTime(since),
    }),
  })
}

export const DEVICES_WITH: JsonSchema = pageOf(
  objectOf(
    { deviceId: { type: 'string' }, name: { type: ['string', 'null'] }, since: SINCE },
    { title: 'DeviceSince' },
  ),
)
