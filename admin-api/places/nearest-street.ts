import type { Coordinates } from '../../schemas/geo/distance.ts'
import { fromMercator, metre, toMercator } from '../../schemas/geo/mercator.ts'
import type { StreetTile } from './street-tile.ts'

/** Protomaps' basemap and OpenMapTiles name the smallest streets from this zoom on. */
export const STREET_ZOOM = 14
/** The number of tiles around the earth. */
export const TILES_AROUND = 2 ** STREET_ZOOM

/** A tile with its column, which may lie beyond the 180th meridian, and row. */
export type PlacedTile = {
  readonly column: number
  readonly row: number
  readonly tile: StreetTile
}

/** The point of a street that is nearest to a position. */
export type FoundStreet = Coordinates & {
  readonly name: string
  readonly distanceMetres: number
}

/**
 * The nearest street of a tile, up to a distance. Web Mercator has the same scale in all directions,
 * so within a few kilometres distances on the map are those on the ground.
 */
export function nearestIn(
  placed: PlacedTile,
  position: Coordinates,
  atMostMetres: number,
  isWanted: (name: number) => boolean = () => true,
): FoundStreet | undefined {
  const { column, row, tile } = placed
  const { extent, names, nameOf, ends, boxes, points } = tile
  const { east, south, unitMetres } = spotIn(placed, position)
  let least = (atMostMetres / unitMetres) ** 2
  let found: { line: number; x: number; y: number } | undefined
  for (let line = 0, begin = 0; line < ends.length; line += 1) {
    const end = ends[line] as number
    const isNear = fromBox(boxes, 4 * line, east, south) < least
    if (isNear && isWanted(nameOf[line] as number)) {
      for (let point = begin; point < end; point += 1) {
        const to = 2 * point
        const from = point === begin ? to : to - 2
        const [x, y] = [points[from] as number, points[from + 1] as number]
        const [across, down] = [(points[to] as number) - x, (points[to + 1] as number) - y]
        const length = across * across + down * down
        const along = length === 0 ? 0 : ((east - x) * across + (south - y) * down) / length
        const part = along < 0 ? 0 : along > 1 ? 1 : along
        const [atX, atY] = [x + part * across, y + part * down]
        const distance = (east - atX) ** 2 + (south - atY) ** 2
        if (distance >= least) continue
        least = distance
        found = { line, x: atX, y: atY }
      }
    }
    begin = end
  }
  if (found === undefined) return undefined
  const at = fromMercator({
    x: (column + found.x / extent) / TILES_AROUND,
    y: (row + found.y / extent) / TILES_AROUND,
  })
  const name = names[nameOf[found.line] as number] as string
  return { name, ...at, distanceMetres: Math.sqrt(least) * unitMetres }
}

/** For each name of a tile, the metres from the box around its nearest line: at most those from it. */
export function leastMetres(placed: PlacedTile, position: Coordinates): Float64Array {
  const { names, nameOf, boxes } = placed.tile
  const { east, south, unitMetres } = spotIn(placed, position)
  const least = new Float64Array(names.length).fill(Infinity)
  for (const [line, name] of nameOf.entries()) {
    const metres = Math.sqrt(fromBox(boxes, 4 * line, east, south)) * unitMetres
    if (metres < (least[name] as number)) least[name] = metres
  }
  return least
}

/** A position in the units of a tile. */
function spotIn({ column, row, tile: { extent } }: PlacedTile, position: Coordinates) {
  const spot = toMercator(position.longitude, position.latitude)
  return {
    east: (spot.x * TILES_AROUND - column) * extent,
    south: (spot.y * TILES_AROUND - row) * extent,
    unitMetres: 1 / (metre(spot) * TILES_AROUND * extent),
  }
}

/** The square of the distance from a box. */
function fromBox(boxes: Int16Array, at: number, east: number, south: number): number {
  const [west, north] = [boxes[at] as number, boxes[at + 1] as number]
  const across = Math.max(west - east, 0, east - (boxes[at + 2] as number))
  const down = Math.max(north - south, 0, south - (boxes[at + 3] as number))
  return across * across + down * down
}
