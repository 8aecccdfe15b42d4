import type { Liveness } from '../../schemas/liveness.ts'
import type { DevicePage } from '../../store/read-models.ts'
import { textParameter } from '../http/query.ts'
import { choice, parsed, type InputOf } from '../http/rule.ts'
import { labelParameter } from './label-rules.ts'

const STATUSES: readonly Liveness[] = ['online', 'idle', 'offline']
const SORTS = ['deviceId', '-deviceId', 'lastSeenAt', '-lastSeenAt'] as const

const BBOX_PATTERN = '^-?\\d{1,3}(\\.\\d{1,20})?(,-?\\d{1,3}(\\.\\d{1,20})?){3}$'

export const DEVICE_FILTER_PARAMETERS = {
  status: choice(STATUSES, { expected: `status must be ${STATUSES.join(' or ')}` }).described(
    'The status, computed when read',
  ),
  q: textParameter('q', 128).described(
    'A text that the deviceId or the name contains, capital or small letters alike',
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
  sort: choice(SORTS, { expected: `sort must be ${SORTS.join(' or ')}` })
    .withDefault('deviceId')
    .described('The order, by the bytes of the deviceId or by time; `-` turns it round'),
}

/** The filter of a device list, as parsed from the query. */
export type DeviceFilter = InputOf<typeof DEVICE_FILTER_PARAMETERS>

/** The store query for a page of such a list. */
export function devicePage(
  { status, q, label, keyId, bbox, sort }: DeviceFilter,
  now: number,
): Pick<DevicePage, 'sort' | 'order' | 'bbox' | 'mentions' | 'status' | 'labels' | 'keyId'> {
  return {
    sort: sort.endsWith('deviceId') ? 'deviceId' : 'lastSeenAt',
    order: sort.startsWith('-') ? 'desc' : 'asc',
    ...(bbox !== undefined && { bbox }),
    ...(q !== undefined && { mentions: q }),
    ...(label !== undefined && { labels: label }),
    ...(keyId !== undefined && { keyId }),
    ...(status !== undefined && { status: { is: status, now } }),
  }
}

function parseBbox(text: string): DevicePage['bbox'] {
  const sides = text.split(',')
  if (sides.length !== 4 || !sides.every((side) => /^-?\d{1,3}(\.\d{1,20})?$/.test(side))) {
    return undefined
  }
  const [west = NaN, south = NaN, east = NaN, north = NaN] = sides.map(Number)
  const onEarth = Math.abs(west) <= 180 && Math.abs(east) <= 180 && south >= -90 && north <= 90
  return onEarth && south <= north ? { west, south, east, north } : undefined
}
