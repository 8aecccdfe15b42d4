import { objectOf, type JsonSchema } from '../../../runtime/openapi/json-schema.ts'
import { NEXT_CURSOR } from '../../http/answer-page.ts'
import { isoTime, TIME } from '../../http/views.ts'
import { coordinatesOf } from '../../../schemas/geo/earth-point.ts'
import { PLACE, type NameOf } from '../../places/place-names.ts'
import type { TripOrStop } from '../../../schemas/geo/trip-finder.ts'

type Range = { readonly from: number; readonly to: number }

/** A trip or stop as the API shows it. */
export function tripView(item: TripOrStop, range: Range, nameOf: NameOf) {
  const { kind, from, to, records } = item
  const times = { from: isoTime(from), to: isoTime(to), open: openOf(item, range) }
  if (kind === 'stop') {
    const position = coordinatesOf(item.middle)
    return { kind, ...times, position, place: nameOf(position), records }
  }
  const { distanceMetres, movingMs, maxSpeed, start, end } = item
  return {
    kind,
    ...times,
    distanceMetres,
    movingSeconds: movingMs / 1_000,
    maxSpeed,
    start: { ...start, place: nameOf(start) },
    end: { ...end, place: nameOf(end) },
    records,
  }
}

function openOf(item: TripOrStop, { from, to }: Range): 'before' | 'after' | 'both' | null {
  if (item.from < from) return item.to > to ? 'both' : 'before'
  return item.to > to ? 'after' : null
}

const AMOUNT: JsonSchema = { type: 'number', minimum: 0 }
const COUNT: JsonSchema = { type: 'integer', minimum: 0 }

const COORDINATES = {
  latitude: { type: 'number', minimum: -90, maximum: 90 },
  longitude: { type: 'number', minimum: -180, maximum: 180 },
}

const POSITION: JsonSchema = objectOf(COORDINATES, { title: 'StopPosition' })

const TRIP_END: JsonSchema = objectOf({ ...COORDINATES, place: PLACE }, { title: 'TripEnd' })

const OF_TRIPS = {
  distanceMetres: AMOUNT,
  movingSeconds: AMOUNT,
  maxSpeed: { type: ['number', 'null'], description: 'Metres per second' },
  start: TRIP_END,
  end: TRIP_END,
}

// Not `oneOf`: the Go code that openapi-generator makes of it needs an extra package.
const TRIP_OR_STOP: JsonSchema = objectOf(
  {
    kind: { enum: ['trip', 'stop'] },
    from: { ...TIME, description: 'The first record' },
    to: {
      ...TIME,
      description:
        'The last record, or the first of the next stop if nothing shows a movement between',
    },
    open: {
      type: ['string', 'null'],
      enum: ['before', 'after', 'both', null],
      description: 'Where it reaches beyond the range',
    },
    ...OF_TRIPS,
    position: POSITION,
    place: PLACE,
    records: {
      ...COUNT,
      description: 'A trip’s count excludes the records of the stops at its ends',
    },
  },
  {
    title: 'TripOrStop',
    description: 'A stop has a `position`, its middle, and its `place`; a trip has all the others',
    optional: [...Object.keys(OF_TRIPS), 'position', 'place'],
  },
)

export const TRIPS: JsonSchema = objectOf(
  {
    items: {
      type: 'array',
      description: 'By time; where nothing is known of the device, there is nothing',
      items: TRIP_OR_STOP,
    },
    nextCursor: NEXT_CURSOR,
    totals: objectOf(
      {
        trips: COUNT,
        stops: COUNT,
        distanceMetres: AMOUNT,
        movingSeconds: AMOUNT,
        stoppedSeconds: AMOUNT,
      },
      {
        title: 'TripTotals',
        description: 'On the first page: sums over the items of all pages, each whole',
      },
    ),
  },
  { title: 'Trips', optional: ['totals'] },
)
