import type { LonLat, GeofenceShape } from '../definitions/geofence.ts'
import { faultsOfPolygons, type ShapeFault } from './shape-faults.ts'
import { fieldPath } from '../report/field-path.ts'
import { isJsonObject } from '../text/json-object.ts'

export const RADIUS_METRES = [10, 1_000_000] as const
export const LARGEST_LONGITUDE = 360

type Parsed = { readonly made: GeofenceShape } | { readonly faults: readonly ShapeFault[] }

/** Parses a circle, or a GeoJSON geometry. */
export function parseShape(value: unknown, field: string): Parsed {
  if (!isJsonObject(value)) return fault(field, `${field} must be an object: ${SHAPES}`)
  const read = readShape(value, field)
  const { type } = value
  const known = type === 'circle' ? CIRCLE_FIELDS : ['type', 'coordinates']
  if (!SHAPE_TYPES.some((one) => one === type)) return read
  const unknown = Object.keys(value).filter((name) => !known.includes(name))
  if (unknown.length === 0) return read
  const faults = unknown.map((name) => {
    const at = fieldPath([field, name])
    return {
      field: at,
      message: `${at} is not a field of a ${String(type)}: it takes ${known.join(', ')}`,
    }
  })
  return { faults: 'faults' in read ? [...faults, ...read.faults] : faults }
}

const SHAPE_TYPES = ['circle', 'Polygon', 'MultiPolygon'] as const
const CIRCLE_FIELDS = ['type', 'latitude', 'longitude', 'radius']

function readShape(value: Readonly<Record<string, unknown>>, field: string): Parsed {
  const { type, coordinates } = value
  if (type === 'circle') return circle(value, field)
  const at = `${field}.coordinates`
  if (type === 'Polygon') {
    const read = parseRings(coordinates, at)
    if ('faults' in read) return read
    const faults = faultsOfPolygons([{ field: at, rings: read.made }])
    return faults.length > 0 ? { faults } : { made: { type, coordinates: read.made } }
  }
  if (type === 'MultiPolygon') {
    const read = parseEach(
      coordinates,
      at,
      'a list of polygons, each of which is a list of rings',
      parseRings,
    )
    if ('faults' in read) return read
    const polygons = read.made.map((rings, n) => ({ field: `${at}[${n}]`, rings }))
    const faults = faultsOfPolygons(polygons)
    return faults.length > 0 ? { faults } : { made: { type, coordinates: read.made } }
  }
  return fault(`${field}.type`, `${field}.type must be one of ${SHAPE_TYPES.join(', ')}`)
}

const SHAPES =
  'a circle with latitude, longitude and radius, or a GeoJSON Polygon or MultiPolygon with coordinates'

function circle(value: Readonly<Record<string, unknown>>, field: string): Parsed {
  const limits = [
    ['latitude', -90, 90] as const,
    ['longitude', -LARGEST_LONGITUDE, LARGEST_LONGITUDE] as const,
    ['radius', ...RADIUS_METRES] as const,
  ]
  const faults = limits
    .filter(([name, least, most]) => !isBetween(value[name], least, most))
    .map(([name, least, most]) => {
      const at = `${field}.${name}`
      const unit = name === 'radius' ? 'metres' : 'degrees'
      return { field: at, message: `${at} must be a number of ${unit} from ${least} to ${most}` }
    })
  if (faults.length > 0) return { faults }
  const { latitude, longitude, radius } = value as Record<string, number>
  const made = {
    latitude: plain(latitude),
    longitude: withinHalfTurn(longitude),
    radius: plain(radius),
  }
  return {
    made: {
      type: 'circle',
      latitude: made.latitude,
      longitude: made.longitude,
      radius: made.radius,
    },
  }
}

function parseRings(value: unknown, field: string) {
  return parseEach(value, field, 'a list of rings, the outer one first', parseRing)
}

function parseRing(value: unknown, field: string) {
  return parseEach<LonLat>(
    value,
    field,
    'a list of positions, the last one the same as the first',
    parsePosition,
  )
}

function parsePosition(value: unknown, field: string) {
  const [longitude, latitude] = Array.isArray(value) ? (value as unknown[]) : []
  if (isBetween(longitude, -LARGEST_LONGITUDE, LARGEST_LONGITUDE) && isBetween(latitude, -90, 90)) {
    return { made: [withinHalfTurn(longitude), plain(latitude)] as const }
  }
  return fault(
    field,
    `${field} must be [longitude, latitude] in degrees, from -${LARGEST_LONGITUDE} to ${LARGEST_LONGITUDE} and from -90 to 90`,
  )
}

type Read<Made> = { readonly made: Made } | { readonly faults: readonly ShapeFault[] }

/** Parses each item of a non-empty list; an empty ring is not closed. */
function parseEach<Made>(
  value: unknown,
  field: string,
  expected: string,
  read: (item: unknown, field: string) => Read<Made>,
): Read<readonly Made[]> {
  if (!Array.isArray(value) || value.length === 0)
    return fault(field, `${field} must be ${expected}`)
  const items = value.map((item: unknown, n) => read(item, `${field}[${n}]`))
  const faults = items.flatMap((item) => ('faults' in item ? item.faults : []))
  if (faults.length > 0) return { faults }
  return { made: items.flatMap((item) => ('made' in item ? [item.made] : [])) }
}

function isBetween(value: unknown, least: number, most: number): value is number {
  return typeof value === 'number' && value >= least && value <= most
}

/**
 * Wraps a longitude to ±180°: programs that draw across the 180th meridian continue counting beyond
 * it.
 */
function withinHalfTurn(longitude: number | undefined): number {
  const same = plain(longitude)
  if (Math.abs(same) <= 180) return same
  return plain(same - Math.sign(same) * 360)
}

/** Zero for -0, which JSON does not preserve. */
function plain(value: number | undefined): number {
  return (value ?? NaN) + 0
}

function fault(field: string, message: string): { readonly faults: readonly ShapeFault[] } {
  return { faults: [{ field, message }] }
}
