import { DEVICE_SORTS, type DeviceSort } from '../../schemas/devices/device-order.ts'
import { searchWords } from '../../schemas/devices/device-search.ts'
import type { Liveness } from '../../schemas/devices/liveness.ts'
import type { DeviceQuery } from '../../store/read-models.ts'
import { textParameter } from '../http/query.ts'
import { choice, parsed, type InputOf } from '../http/rule.ts'
import { labelParameter } from './label-rules.ts'

const STATUSES: readonly Liveness[] = ['online', 'idle', 'offline']

const BBOX_PATTERN = '^-?\\d{1,3}(\\.\\d{1,20})?(,-?\\d{1,3}(\\.\\d{1,20})?){3}$'

const SORT_DESCRIPTION =
  'The column to sort by; `-` reverses the order. By default `deviceId`, and with `q` whole words and shorter names first'

export const DEVICE_FILTER_PARAMETERS = {
  status: choice(STATUSES, { expected: `status must be ${STATUSES.join(' or ')}` }).described(
    'The status, computed when read',
  ),
  q: textParameter('q', 128).described(
    'Words, each of which is in the name or the deviceId; case, separators and leading zeros do not count: `van 7` finds `van-07`. Separators alone find what has them',
  ),
  label: labelParameter,
  keyId: textParameter('keyId', 128).described(
    'The key that its newest report, or heartbeat, was sent with',
  ),
  bbox: parsed({
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
export type DeviceFilter = InputOf<typeof DEVICE_FILTER_PARAMETERS>

/** The store query for a page of such a list. */
export function devicePage(
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
