import { objectOf, type JsonSchema } from '../../runtime/openapi/json-schema.ts'
import { readPages } from '../../runtime/process/read-pages.ts'
import { isListed } from '../../schemas/devices/device-id.ts'
import type { DeviceSince } from '../../store/facts.ts'
import type { Store } from '../../store/store.ts'
import { route, type AdminContext, type AdminRoute, type Input } from '../http/admin-route.ts'
import { answerPage, pageOf } from '../http/answer-page.ts'
import { deviceList, type Caller } from '../http/caller.ts'
import { readCursor } from '../http/cursor.ts'
import { PAGE_PARAMETERS, type PageQuery } from '../http/query.ts'
import { isoTime } from '../http/views.ts'
import { SINCE } from './standings.ts'

type Stores = Pick<Store, 'devicesWith' | 'findDevices' | 'findGeofence' | 'findRule'>

type Definitions = { readonly geofenceId?: string; readonly ruleId?: string }

/** Devices read per event-loop turn. */
const READ_AT_ONCE = 500

/** The ids of the devices in a geofence, or with a rule raised, that the caller may see. */
export async function devicesOf(
  store: Omit<Stores, 'findDevices'>,
  caller: Caller,
  { geofenceId, ruleId }: Definitions,
): Promise<ReadonlySet<string>> {
  let ids: ReadonlySet<string> | undefined
  for (const definition of [
    ...(geofenceId === undefined ? [] : [{ geofenceId }]),
    ...(ruleId === undefined ? [] : [{ ruleId }]),
  ]) {
    const own = new Set<string>()
    for await (const page of pagesOf(store, caller, definition)) {
      for (const { deviceId } of page) if (ids?.has(deviceId) !== false) own.add(deviceId)
    }
    ids = own
  }
  return ids ?? new Set()
}

/** Empty if the definition is disabled or deleted. */
async function* pagesOf(
  store: Omit<Stores, 'findDevices'>,
  caller: Caller,
  { geofenceId, ruleId }: Definitions,
  from?: string,
): AsyncGenerator<readonly DeviceSince[], void> {
  const { accountId } = caller
  const definition =
    geofenceId === undefined
      ? await store.findRule({ accountId, id: ruleId ?? '' })
      : await store.findGeofence({ accountId, id: geofenceId })
  if (definition?.enabled !== true) return
  const { id: definitionId, revision } = definition
  const query = { accountId, definitionId, ...(geofenceId === undefined && { revision }) }
  const visible = deviceList(caller)
  const pages = readPages<DeviceSince>(READ_AT_ONCE, ({ limit, after = { deviceId: from } }) =>
    store.devicesWith({
      ...query,
      limit,
      ...(after.deviceId !== undefined && { after: after.deviceId }),
    }),
  )
  for await (const page of pages) yield page.filter(({ deviceId }) => isListed(visible, deviceId))
}

/** The devices in a geofence, or with a rule raised. */
export function devicesWithRoute({
  path,
  summary,
  definitionOf,
  store,
}: {
  readonly path: string
  readonly summary: string
  /**
   * Finds the definition in the path.
   * @throws {ApiError} 404
   */
  readonly definitionOf: (
    ctx: AdminContext,
    caller: Caller,
  ) => Promise<{ readonly geofenceId: string } | { readonly ruleId: string }>
  readonly store: Stores
}): AdminRoute {
  async function list(
    ctx: AdminContext,
    caller: Caller,
    { query: { limit, cursor } }: Input<PageQuery>,
  ): Promise<void> {
    const definition = await definitionOf(ctx, caller)
    const { accountId } = caller
    const list = { name: 'devices of a definition', accountId, filter: definition }
    const [after] = readCursor(cursor, list, ['text']) ?? []
    const some: DeviceSince[] = []
    for await (const page of pagesOf(store, caller, definition, after)) {
      some.push(...page.slice(0, limit + 1 - some.length))
      if (some.length > limit) break
    }
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

  return route({
    method: 'GET',
    path,
    summary,
    needs: 'viewer',
    scope: 'devices:read',
    query: PAGE_PARAMETERS,
    answer: { data: DEVICES_WITH },
    handle: list,
  })
}

const DEVICES_WITH: JsonSchema = pageOf(
  objectOf(
    { deviceId: { type: 'string' }, name: { type: ['string', 'null'] }, since: SINCE },
    { title: 'DeviceSince' },
  ),
)
