import type { Feature, Geometry } from 'geojson'
import { toMercator } from '../../../schemas/geo/mercator.ts'
import { pmtiles } from '../../../console/world/pmtiles.ts'
import { lines, points, makeTileAt, type Layers } from '../../../console/world/make-tiles.ts'
import { blocks, box, BLOCK, houses, riverNorth } from './blocks.ts'
import { bent, degrees, REACH, type Spot } from './plane.ts'
import { ways } from './ways.ts'

const ZOOMS = { min: 10, max: 15 }

/**
 * A PMTiles file in Protomaps' basemap schema: a town that does not exist, made up here, with
 * streets, names and houses. In the fourth version of the schema, or with the names of the third.
 */
export function town({ version = 4 }: { version?: 3 | 4 } = {}): Buffer {
  const [west = 0, south = 0] = degrees([-REACH, -REACH])
  const [east = 0, north = 0] = degrees([REACH, REACH])
  const layers = layersOf(version)
  const tiles = []
  for (let z = ZOOMS.min; z <= ZOOMS.max; z += 1) {
    const [first, last] = [toMercator(west, north), toMercator(east, south)]
    for (let x = Math.floor(first.x * 2 ** z); x <= last.x * 2 ** z; x += 1) {
      for (let y = Math.floor(first.y * 2 ** z); y <= last.y * 2 ** z; y += 1) {
        tiles.push(...makeTileAt(z, x, y, layers))
      }
    }
  }
  return pmtiles({
    tiles,
    minZoom: ZOOMS.min,
    maxZoom: ZOOMS.max,
    bounds: [west, south, east, north],
    metadata: { name: 'Musterstadt', attribution: 'A town that does not exist' },
  })
}

function layersOf(version: 3 | 4): Layers {
  const named = (features: readonly Feature[]) => (version === 4 ? features : features.map(asOfV3))
  const made = (features: readonly Feature[]) => lines(named(features), ZOOMS.max)
  return {
    earth: made([area(box(-2 * REACH, -2 * REACH, 4 * REACH, 4 * REACH), { kind: 'earth' })]),
    landuse: made(landuse()),
    water: made([river()]),
    buildings: made(blocks().flatMap(buildings)),
    roads: made(
      ways().map(({ spots, kind, detail, name, isBridge }) =>
        line(spots, { kind, kind_detail: detail, name, is_bridge: isBridge }),
      ),
    ),
    places: points(named(places()), ZOOMS.max),
    pois: points(named(pois()), ZOOMS.max),
  }
}

function landuse(): Feature[] {
  const { across, down } = BLOCK
  return [
    area(box(900, 700, 700, 500), { kind: 'forest' }),
    area(box(-1_900, -1_900, 900, 600), { kind: 'wood' }),
    ...blocks().map(({ west, south, use }) =>
      area(box(west, south, across, down), { kind: use === 'houses' ? 'residential' : use }),
    ),
  ]
}

function buildings(block: ReturnType<typeof blocks>[number]): Feature[] {
  if (block.use === 'park') return []
  return houses(block).flatMap((outline, index) => {
    const [corner = [0, 0]] = outline
    const middle: Spot = [corner[0] + 6, corner[1] + 6]
    const number = { kind: 'address', addr_housenumber: String(2 * index + 1) }
    return [area(outline, { kind: 'building', height: 12 }), point(middle, number)]
  })
}

function river(): Feature {
  const spots = Array.from({ length: 61 }, (_, index) => (index - 30) * 100)
  const bank =
    (side: number) =>
    (east: number): Spot => [east, riverNorth(east) + side]
  const ring = [...spots.map(bank(-42)), ...spots.reverse().map(bank(42))]
  return area([...ring, ...ring.slice(0, 1)], { kind: 'river', name: 'Muster' })
}

function places(): Feature[] {
  return [
    point([0, 150], {
      kind: 'locality',
      kind_detail: 'town',
      name: 'Musterstadt',
      population_rank: 8,
    }),
    point([-620, 800], { kind: 'neighbourhood', name: 'Nordviertel' }),
    point([500, -760], { kind: 'neighbourhood', name: 'Am Bahnhof' }),
    point([760, 380], { kind: 'neighbourhood', name: 'Ostend' }),
  ]
}

function pois(): Feature[] {
  return [
    point([420, -1_040], { kind: 'station', name: 'Musterstadt Hauptbahnhof', min_zoom: 13 }),
    point([-190, 430], { kind: 'park', name: 'Stadtpark', min_zoom: 14 }),
    point([330, 240], { kind: 'hospital', name: 'Krankenhaus', min_zoom: 14 }),
  ]
}

type Properties = Readonly<Record<string, unknown>>

function area(ring: readonly Spot[], properties: Properties): Feature {
  const outline = ring.map((spot) => degrees(bent(spot)))
  return feature({ type: 'Polygon', coordinates: [outline] }, properties)
}

function line(spots: readonly Spot[], properties: Properties): Feature {
  return feature(
    { type: 'LineString', coordinates: spots.map((spot) => degrees(bent(spot))) },
    properties,
  )
}

function point(spot: Spot, properties: Properties): Feature {
  return feature({ type: 'Point', coordinates: degrees(bent(spot)) }, properties)
}

function feature(geometry: Geometry, properties: Properties): Feature {
  const known = Object.entries(properties).filter(([, value]) => value !== undefined)
  return { type: 'Feature', geometry, properties: Object.fromEntries(known) }
}

/** It prefixed its own words, and put bridges one level up. */
function asOfV3(one: Feature): Feature {
  const properties: Record<string, unknown> = {}
  for (const [name, value] of Object.entries<unknown>(one.properties ?? {})) {
    if (name === 'is_bridge') properties['pmap:level'] = 1
    else if (name === 'name' || name === 'addr_housenumber') properties[name] = value
    else properties[`pmap:${name}`] = value
  }
  return { ...one, properties }
}
