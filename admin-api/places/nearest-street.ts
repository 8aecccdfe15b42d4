import type { Coordinates } from '../../schemas/geo/distance.ts'
import { mercatorToDegrees, metre, toMercator } from '../../schemas/geo/mercator.ts'
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
 * The nearest point of each street of a tile, up to a distance. Web Mercator has the same scale in all
 * directions, so within a few kilometres distances on the map are those on the ground.
 */
export function findNearestOfEach(
  { column, row, tile }: PlacedTile,
  position: Coordinates,
  atMostMetres: number,
  isWanted: (name: number) => boolean = () => true,
): FoundStreet[] {
  const { extent, names, nameOf, ends, boxes, points } = tile
  const spot = toMercator(position.longitude, position.latitude)
  const east = (spot.x * TILES_AROUND - column) * extent
  const south = (spot.y * TILES_AROUND - row) * extent
  const unitMetres = 1 / (metre(spot) * TILES_AROUND * extent)
  const farthest = (atMostMetres / unitMetres) ** 2
  const found = new Map<number, { least: number; x: number; y: number }>()
  for (let line = 0; line < ends.length; line += 1) {
    const name = nameOf[line] as number
    let best = found.get(name)
    if (measureToBox(boxes, 4 * line, east, south) >= (best?.least ?? farthest) || !isWanted(name))
      continue
    const begin = line === 0 ? 0 : (ends[line - 1] as number)
    for (let point = begin; point < (ends[line] as number); point += 1) {
      const to = 2 * point
      const from = point === begin ? to : to - 2
      const [x, y] = [points[from] as number, points[from + 1] as number]
      const [across, down] = [(points[to] as number) - x, (points[to + 1] as number) - y]
      const length = across * across + down * down
      const along = length === 0 ? 0 : ((east - x) * across + (south - y) * down) / length
      const part = along < 0 ? 0 : along > 1 ? 1 : along
      const [atX, atY] = [x + part * across, y + part * down]
      const least = (east - atX) ** 2 + (south - atY) ** 2
      if (least < (best?.least ?? farthest)) best = { least, x: atX, y: atY }
    }
    if (best !== undefined) found.set(name, best)
  }
  return Array.from(found, ([name, { least, x, y }]) => ({
    name: names[name] as string,
    ...mercatorToDegrees({
      x: (column + x / extent) / TILES_AROUND,
      y: (row + y / extent) / TILES_AROUND,
    }),
    distanceMetres: Math.sqrt(least) * unitMetres,
  }))
}

/** The square of the distance from a box. */
function measureToBox(boxes: Int16Array, at: number, east: number, south: number): number {
  const [west, north] = [boxes[at] as number, boxes[at + 1] as number]
  const across = Math.max(west - east, 0, east - (boxes[at + 2] as number))
  const down = Math.max(north - south, 0, south - (boxes[at + 3] as number))
  return across * across + down * down
}
