import type { Clock } from '../../runtime/clock.ts'
import { succeed } from '../../runtime/http/http.ts'
import { objectOf, type JsonSchema } from '../../runtime/openapi/json-schema.ts'
import type { DevicePlace, DeviceQuery } from '../../store/read-models.ts'
import { endOfTurn } from '../../runtime/end-of-turn.ts'
import { DEVICE_SORTS, type DeviceSort, searchWords } from '../../schemas/devices/device-search.ts'
import type { Liveness } from '../../schemas/devices/liveness.ts'
import type { Store } from '../../store/store.ts'
import { route, type AdminContext, type AdminRoute, type Input } from '../http/admin-route.ts'
import { answerInParts } from '../http/answer-in-parts.ts'
import { pageOf } from '../http/answer-page.ts'
import { deviceList, type Caller } from '../http/caller.ts'
import { readCursor, writeCursor } from '../http/cursor.ts'
import {
  DEFAULT_LIMIT,
  limitParameter,
  PAGE_PARAMETERS,
  textParameter,
  timeParameter,
} from '../http/query.ts'
import { choice, parsedValue, type InputOf } from '../http/rule.ts'
import { isoTime, TIME } from '../http/views.ts'
import { deviceView, LISTED_DEVICE } from './device-view.ts'
import { listDevicesAt, type MomentDependencies } from './devices-at.ts'
import { devicesOf } from './devices-with.ts'
import { labelParameter } from './label-rules.ts'
import { NO_STANDINGS, listStandingIds, standingsOf } from './standings.ts'

/** Few enough to read, view and write in one event-loop turn even if each has all attributes. */
const FOUND_AT_ONCE = 250
const PLACED_AT_ONCE = 5_000

const STATUSES: readonly Liveness[] = ['online', 'idle', 'offline']

const BBOX_PATTERN = '^-?\\d{1,3}(\\.\\d{1,20})?(,-?\\d{1,3}(\\.\\d{1,20})?){3}$'

const SORT_DESCRIPTION =
  'The column to sort by; `-` reverses the order. By default `deviceId`, and with `q` whole words and shorter names first'

const DEVICE_FILTER_PARAMETERS = {
  status: choice(STATUSES, { expected: `status must be ${STATUSES.join(' or ')}` }).described(
    'The status, computed when read',
  ),
  q: textParameter('q', 128).described(
    'Words, each of which is in the name or the deviceId; case, separators and leading zeros do not count: `van 7` finds `van-07`. Separators alone match names that contain them',
  ),
  label: labelParameter,
  keyId: textParameter('keyId', 128).described(
    'The key that its newest report, or heartbeat, was sent with',
  ),
  bbox: parsedValue({
    parse: parseBbox,
    expected:
      'bbox must be west,south,east,north in degrees, south not above north, for example 13.5,45,14,45.7',
    openapi: { type: 'string', pattern: BBOX_PATTERN, examples: ['13.5,45,14,45.7'] },
  }).described(
    'Where the last position is: `west,south,east,north` in WGS84 degrees, edges included; west above east crosses the 180th meridian',
  ),
  sort: choice(
    DEVICE_SORTS.flatMap((sort) => [sort, `-${sort}` as const]),
    {
      expected: `sort must be one of ${DEVICE_SORTS.join(', ')}, with a - before it to reverse the order`,
    },
  ).described(SORT_DESCRIPTION),
}

/** The filter of a device list, as parsed from the query. */
type DeviceFilter = InputOf<typeof DEVICE_FILTER_PARAMETERS>

/** The store query for a page of such a list. */
function devicePage(
  { status, q, label, keyId, bbox, sort }: DeviceFilter,
  now: number,
): Omit<DeviceQuery, 'accountId' | 'limit'> & Required<Pick<DeviceQuery, 'sort'>> {
  const words = searchWords(q ?? '')
  const isSearch = words.length > 0
  return {
    sort: sort === undefined ? (isSearch ? 'match' : 'deviceId') : columnOf(sort),
    order: sort?.startsWith('-') === true ? 'desc' : 'asc',
    ...(bbox !== undefined && { bbox }),
    ...(isSearch && { words }),
    ...(label !== undefined && { labels: label }),
    ...(keyId !== undefined && { keyId }),
    ...(status !== undefined && { status: { is: status, now } }),
  }
}

function columnOf(sort: DeviceSort | `-${DeviceSort}`): DeviceSort {
  return sort.replace(/^-/, '') as DeviceSort
}

function parseBbox(text: string): DeviceQuery['bbox'] {
  const sides = text.split(',')
  if (sides.length !== 4 || !sides.every((side) => /^-?\d{1,3}(\.\d{1,20})?$/.test(side))) {
    return undefined
  }
  const [west = NaN, south = NaN, east = NaN, north = NaN] = sides.map(Number)
  const onEarth = Math.abs(west) <= 180 && Math.abs(east) <= 180 && south >= -90 && north <= 90
  return onEarth && south <= north ? { west, south, east, north } : undefined
}

const LIST_PARAMETERS = {
  ...PAGE_PARAMETERS,
  limit: limitParameter(10_000).withDefault(DEFAULT_LIMIT),
  ...DEVICE_FILTER_PARAMETERS,
  geofenceId: textParameter('geofenceId', 128).described('Only devices in this geofence'),
  ruleId: textParameter('ruleId', 128).described('Only devices for which this rule is raised'),
  at: timeParameter('at').described(
    'The devices as of this time: see the description. Keys need the scope `positions:read` too',
  ),
}

const LIST_DESCRIPTION = `
By \`deviceId\`, pages read one after the other hold each device once. In another order, a device
whose value changes meanwhile moves, and may be shown twice or not at all.

With \`at\`, \`lastPosition\` is the last record with a \`timestamp\` up to then, and \`status\`, \`lastSeenAt\`, \`lastKeyId\` and
\`inside\` follow from that record alone: heartbeats and repeats are not kept. \`inside\` is by the geofences of today. Names, labels
and all other fields are those of now. A device that had not reported by then is \`offline\` and has no position.
\`status\`, \`bbox\` and \`geofenceId\` filter by what was so then; \`keyId\`, \`ruleId\` and sorting by \`lastSeenAt\` are refused.
`.trim()

/** The devices of an account with their statuses, and the number of devices in each status. */
export function deviceListRoutes({
  store,
  clock,
  geofences,
}: { store: Store; clock: Clock } & MomentDependencies): AdminRoute[] {
  async function list(
    ctx: AdminContext,
    caller: Caller,
    { query: { limit, cursor, ...filter } }: Input<InputOf<typeof LIST_PARAMETERS>>,
  ): Promise<void> {
    const { accountId } = caller
    const devices = deviceList(caller)
    const list = { name: 'devices', accountId, filter }
    const now = clock.now()
    const { at } = filter
    if (at !== undefined) {
      const { q, label, sort } = filter
      const known = {
        ...(q !== undefined && { q }),
        ...(label && { label }),
        ...(sort && { sort }),
      }
      const query = { ...devicePage(known, now), ...(devices !== undefined && { devices }) }
      const wanted = { ...filter, at, limit, cursor }
      return listDevicesAt(ctx, caller, { list, query, wanted }, { store, geofences })
    }
    const page = devicePage(filter, now)
    const [lastId, lastValue] = readCursor(cursor, list, ['text', 'number or none']) ?? []
    const { geofenceId, ruleId } = filter
    const isAny = geofenceId === undefined && ruleId === undefined
    const wanted = isAny ? undefined : await devicesOf(store, caller, filter)
    const places = await placesOf(
      {
        accountId,
        ...page,
        ...(devices !== undefined && { devices }),
        limit: limit + 1,
        ...(lastId !== undefined &&
          lastValue !== undefined && { after: { deviceId: lastId, value: lastValue } }),
      },
      wanted,
    )
    const shown = places.slice(0, limit)
    const last = places.length > limit ? shown.at(-1) : undefined
    const deviceIds = shown.map(({ deviceId }) => deviceId)
    await answerInParts(ctx, {
      name: 'items',
      parts: viewsOf({ accountId, deviceIds }, now),
      after: () => ({
        nextCursor: last === undefined ? null : writeCursor(list, [last.deviceId, last.value]),
      }),
    })
  }

  /**
   * `wanted`: the devices to include; by default all. A geofence may hold more devices than a
   * statement can name.
   */
  async function placesOf(
    query: DeviceQuery,
    wanted: ReadonlySet<string> | undefined,
  ): Promise<readonly DevicePlace[]> {
    if (wanted === undefined) return store.placeDevices(query)
    const places: DevicePlace[] = []
    for (let after = query.after; wanted.size > 0;) {
      const place = after === undefined ? {} : { after }
      const some = await store.placeDevices({ ...query, ...place, limit: PLACED_AT_ONCE })
      places.push(...some.filter(({ deviceId }) => wanted.has(deviceId)))
      after = some.at(-1)
      if (places.length >= query.limit || some.length < PLACED_AT_ONCE) break
      await endOfTurn()
    }
    return places.slice(0, query.limit)
  }

  /** Devices erased in the meantime are omitted. */
  async function* viewsOf(
    { accountId, deviceIds }: { accountId: string; deviceIds: readonly string[] },
    now: number,
  ): AsyncGenerator<object[], void> {
    for (let at = 0; at < deviceIds.length; at += FOUND_AT_ONCE) {
      const some = deviceIds.slice(at, at + FOUND_AT_ONCE)
      const devices = await store.findDevices({ accountId, deviceIds: some })
      const standings = await standingsOf(store, { accountId, deviceIds: some })
      const byDeviceId = new Map(devices.map((device) => [device.status.deviceId, device]))
      yield some.flatMap((deviceId) => {
        const device = byDeviceId.get(deviceId)
        if (device === undefined) return []
        const ids = listStandingIds(standings.get(deviceId) ?? NO_STANDINGS)
        return [{ ...deviceView(device, now), ...ids }]
      })
    }
  }

  async function summarize(ctx: AdminContext, caller: Caller): Promise<void> {
    const { accountId } = caller
    const devices = deviceList(caller)
    const now = clock.now()
    const counts = await store.countDevices({
      accountId,
      now,
      ...(devices !== undefined && { devices }),
    })
    succeed(ctx, { ...counts, asOf: isoTime(now) })
  }

  const scope = 'devices:read'
  return [
    route({
      method: 'GET',
      path: '/devices',
      summary: 'Lists devices with their status',
      description: LIST_DESCRIPTION,
      needs: 'viewer',
      scope,
      query: LIST_PARAMETERS,
      compressed: true,
      answer: { data: { ...pageOf(LISTED_DEVICE), title: 'DevicePage' } },
      handle: list,
    }),
    {
      method: 'GET',
      path: '/devices/summary',
      summary: 'Counts devices by status',
      description: 'A device with the id `summary` is at `/devices/%73ummary`.',
      needs: 'viewer',
      scope,
      answer: { data: DEVICE_SUMMARY },
      handle: summarize,
    },
  ]
}

const COUNT: JsonSchema = { type: 'integer', minimum: 0 }

const DEVICE_SUMMARY: JsonSchema = objectOf(
  {
    total: { ...COUNT, description: 'The sum of online, idle and offline' },
    online: COUNT,
    idle: COUNT,
    offline: COUNT,
    disabled: { ...COUNT, description: 'Disabled devices; they have a status too' },
    asOf: { ...TIME, description: 'When the statuses were computed' },
  },
  { title: 'DeviceSummary' },
)
