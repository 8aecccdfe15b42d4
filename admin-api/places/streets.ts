import { LRUCache } from 'lru-cache'
import type { Clock } from '../../runtime/clock.ts'
import type { MapConfig } from '../../runtime/config/console-variables.ts'
import type { Logger } from '../../runtime/process/logger.ts'
import type { Coordinates } from '../../schemas/geo/distance.ts'
import { metre, toMercator } from '../../schemas/geo/mercator.ts'
import { MapFile } from './map-file.ts'
import {
  findNearestOfEach,
  STREET_ZOOM,
  TILES_AROUND,
  type FoundStreet,
  type PlacedTile,
} from './nearest-street.ts'
import { bytesOf, NO_STREETS, readStreetTile, type StreetTile } from './street-tile.ts'

/** Maximum distance of a street that names a place. */
const REACH_METRES = 100
/** A tile of a city's centre has 100 KiB. */
const BYTES_KEPT = 32 * 1024 * 1024

/** The named streets of the PMTiles files on this machine. */
export class Streets {
  readonly #files: readonly MapFile[]
  readonly #tiles = new LRUCache<string, StreetTile>({
    maxSize: BYTES_KEPT,
    sizeCalculation: bytesOf,
  })

  constructor({
    maps = [],
    ...deps
  }: {
    /** Maps to read streets from; without maps there are no street names. */
    maps?: readonly MapConfig[]
    clock: Clock
    logger: Pick<Logger, 'warn'>
  }) {
    this.#files = maps.flatMap((map) =>
      map.kind === 'pmtiles file' ? [new MapFile({ ...deps, name: map.name, path: map.file })] : [],
    )
  }

  /** The nearest street within 100 m. */
  async nearest(position: Coordinates): Promise<FoundStreet | undefined> {
    const tiles: PlacedTile[] = []
    for await (const placed of this.around(position, REACH_METRES)) tiles.push(placed)
    return findNearestStreet(tiles, position)
  }

  /** Like `nearest`, but searches only tiles in memory; loads missing tiles for the next call. */
  nearestRead(position: Coordinates): FoundStreet | undefined {
    const tiles = this.#files.flatMap((file) =>
      tilesAround(position, REACH_METRES).map(({ column, row }) => {
        return { column, row, tile: this.#tiles.get(keyOf(file, column, row)) }
      }),
    )
    const read = tiles.flatMap(({ tile, ...at }) => (tile === undefined ? [] : { ...at, tile }))
    if (read.length < tiles.length) this.nearest(position).catch(() => undefined)
    return findNearestStreet(read, position)
  }

  /** The tiles that a square around a position touches, from all files. */
  async *around(position: Coordinates, metres: number): AsyncGenerator<PlacedTile, void> {
    for (const file of this.#files) {
      if ((await file.version()) === undefined) continue
      for (const { column, row } of tilesAround(position, metres)) {
        yield { column, row, tile: await this.#tile(file, column, row) }
      }
    }
  }

  async #tile(file: MapFile, column: number, row: number): Promise<StreetTile> {
    const key = keyOf(file, column, row)
    const held = this.#tiles.get(key)
    if (held !== undefined) return held
    const x = ((column % TILES_AROUND) + TILES_AROUND) % TILES_AROUND
    const read = (await file.tile({ z: STREET_ZOOM, x, y: row }, readStreetTile)) ?? NO_STREETS
    this.#tiles.set(key, read)
    return read
  }
}

function findNearestStreet(
  tiles: readonly PlacedTile[],
  position: Coordinates,
): FoundStreet | undefined {
  return tiles
    .flatMap((placed) => findNearestOfEach(placed, position, REACH_METRES))
    .sort((a, b) => a.distanceMetres - b.distanceMetres)[0]
}

function keyOf({ path, lastVersion }: MapFile, column: number, row: number): string {
  return `${path} ${lastVersion} ${column} ${row}`
}

/** At most 30 columns and rows. */
function tilesAround(position: Coordinates, metres: number) {
  const { x, y } = toMercator(position.longitude, position.latitude)
  const reach = Math.min(15, metres * metre({ y }) * TILES_AROUND)
  const tiles: { column: number; row: number }[] = []
  const lastRow = Math.min(TILES_AROUND - 1, Math.floor(y * TILES_AROUND + reach))
  for (
    let column = Math.floor(x * TILES_AROUND - reach);
    column <= x * TILES_AROUND + reach;
    column += 1
  ) {
    for (let row = Math.max(0, Math.floor(y * TILES_AROUND - reach)); row <= lastRow; row += 1) {
      tiles.push({ column, row })
    }
  }
  return tiles
}
