import { endOfTurn } from '../../runtime/end-of-turn.ts'
import Joi from 'joi'
import { liveness, type Device, type Liveness } from '../../schemas/read-models.ts'
import type { DevicePage } from '../../store/read-models.ts'
import type { Store } from '../../store/store.ts'
import { choiceParameter, textParameter } from '../http/query.ts'

/** What a list of devices is asked for. */
export type DeviceFilter = {
  readonly status?: Liveness
  readonly q?: string
  readonly bbox?: NonNullable<DevicePage['bbox']>
  readonly sort: (typeof SORTS)[number]
}

const STATUSES: readonly Liveness[] = ['online', 'idle', 'offline']
const SORTS = ['deviceId', '-deviceId', 'lastSeenAt', '-lastSeenAt'] as const

/** A request looks at no more devices than this, however few of them it is after. */
const LOOKED_AT_MOST = 20_000
const READ_AT_ONCE = 1_000

const BBOX_PATTERN = '^-?\\d{1,3}(\\.\\d{1,20})?(,-?\\d{1,3}(\\.\\d{1,20})?){3}$'

export const DEVICE_FILTER_PARAMETERS = {
  status: choiceParameter('status', STATUSES).description('The status, computed when read'),
  q: textParameter('q', 128).description(
    'A text that the deviceId or the name contains, capital or small letters alike',
  ),
  bbox: Joi.string()
    .custom((text: string, helpers) => parseBbox(text) ?? helpers.error('any.invalid'))
    .meta({ openapi: { type: 'string', pattern: BBOX_PATTERN, examples: ['13.5,45,14,45.7'] } })
    .messages({
      '*': 'bbox must be west,south,east,north in degrees, south not above north, for example 13.5,45,14,45.7',
    })
    .description(
      'Where the last position is: `west,south,east,north` in WGS84 degrees, edges included; west above east crosses the 180th meridian',
    ),
  sort: choiceParameter('sort', SORTS)
    .default('deviceId')
    .description('The order, by the bytes of the deviceId or by time; `-` turns it round'),
}

/**
 * The next devices that the filter keeps, in its order, at most `limit`. `last` is the last one
 * looked at where there may be more behind it; that many devices are looked at and no more, so a
 * page can be short, or empty, without being the last.
 */
export async function findDevices(
  store: Pick<Store, 'pageDevices'>,
  {
    accountId,
    filter: { status, q, bbox, sort },
    limit,
    after: start,
    now,
  }: {
    readonly accountId: string
    readonly filter: DeviceFilter
    readonly limit: number
    readonly after?: NonNullable<DevicePage['after']>
    readonly now: number
  },
): Promise<{ readonly items: readonly Device[]; readonly last?: Device }> {
  const wanted = q === undefined ? '' : caseless(q)
  const keeps = (device: Device) =>
    (status === undefined || liveness(device, now) === status) && mentions(device, wanted)
  const readAtOnce = status === undefined && q === undefined ? limit + 1 : READ_AT_ONCE
  const items: Device[] = []
  let after = start
  for (let lookedAt = 0; ; await endOfTurn()) {
    const page = await store.pageDevices({
      accountId,
      limit: readAtOnce,
      sort: sort.endsWith('deviceId') ? 'deviceId' : 'lastSeenAt',
      order: sort.startsWith('-') ? 'desc' : 'asc',
      ...(after !== undefined && { after }),
      ...(bbox !== undefined && { bbox }),
    })
    for (const device of page) {
      if (!keeps(device)) continue
      const last = items.at(-1)
      if (items.length === limit && last !== undefined) return { items, last }
      items.push(device)
    }
    const last = page.at(-1)
    if (last === undefined || page.length < readAtOnce) return { items }
    lookedAt += page.length
    if (lookedAt >= LOOKED_AT_MOST) return { items, last }
    after = { deviceId: last.status.deviceId, lastSeenAt: last.status.lastSeenAt }
  }
}

function mentions({ status, settings }: Device, wanted: string): boolean {
  if (wanted === '') return true
  return [status.deviceId, settings.name ?? ''].some((text) => caseless(text).includes(wanted))
}

function caseless(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

function parseBbox(text: string): DeviceFilter['bbox'] {
  const sides = text.split(',')
  if (sides.length !== 4 || !sides.every((side) => /^-?\d{1,3}(\.\d{1,20})?$/.test(side))) {
    return undefined
  }
  const [west = NaN, south = NaN, east = NaN, north = NaN] = sides.map(Number)
  const onEarth = Math.abs(west) <= 180 && Math.abs(east) <= 180 && south >= -90 && north <= 90
  return onEarth && south <= north ? { west, south, east, north } : undefined
}
