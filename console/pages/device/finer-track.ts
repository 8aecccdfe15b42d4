import { useEffect, useState } from 'preact/hooks'
import type OlMap from 'ol/Map.js'
import { mercatorToDegrees, WORLD_METRES } from '../../../schemas/geo/mercator.ts'
import type { Track } from '../../core/track.ts'
import { HALF_WORLD } from '../../map/map-canvas.ts'

/** A part of the map in degrees; west above east crosses the 180th meridian. */
export type MapPart = {
  readonly west: number
  readonly south: number
  readonly east: number
  readonly north: number
}

/** The visible part of a map, and the length of a pixel on the ground. */
export type MapSight = MapPart & { readonly metresPerPixel: number }

/** The pause after a movement of the map before a request. */
const RESTS_MS = 300
/** Deviations of fewer pixels are invisible. */
const SEEN_PIXELS = 2
/**
 * How far beyond the view each side is read, as a fraction of the view: small movements read
 * nothing again.
 */
const BEYOND = 0.5

/**
 * A finer track of the visible part of a map, where the whole range's track visibly deviates;
 * undefined where it does not, and while it is being read.
 */
export function useFinerTrack(
  track: Track | undefined,
  sight: MapSight | undefined,
  load: ((part: MapPart, signal: AbortSignal) => Promise<Track>) | undefined,
): Track | undefined {
  const [finer, setFiner] = useState<{ of: Track; part: MapPart; metres: number; track: Track }>()
  const isCoarse =
    track !== undefined &&
    sight !== undefined &&
    track.toleranceMetres > SEEN_PIXELS * sight.metresPerPixel
  const fits =
    finer !== undefined &&
    isCoarse &&
    finer.of === track &&
    holds(finer.part, sight) &&
    // The track is as fine as the screen can show, or was loaded for a part of similar size.
    (finer.track.toleranceMetres <= SEEN_PIXELS * sight.metresPerPixel ||
      finer.metres <= 2 * sight.metresPerPixel)
  useEffect(() => {
    if (!isCoarse || fits || load === undefined) return undefined
    const closing = new AbortController()
    const timer = setTimeout(() => {
      const part = extendPart(sight)
      load(part, closing.signal).then(
        (read) =>
          closing.signal.aborted ||
          setFiner({ of: track, part, metres: sight.metresPerPixel, track: read }),
        // The coarse track remains.
        () => undefined,
      )
    }, RESTS_MS)
    return () => {
      clearTimeout(timer)
      closing.abort()
    }
  }, [track, sight, isCoarse, fits])
  return fits ? finer.track : undefined
}

/** The currently visible part of the map; undefined if that is half of the world or more. */
export function getMapSight(map: OlMap): MapSight | undefined {
  const view = map.getView()
  const [left = 0, bottom = 0, right = 0, top = 0] = view.calculateExtent(map.getSize())
  if (right - left >= HALF_WORLD) return undefined
  const onSquare = (x: number, y: number) =>
    mercatorToDegrees({ x: 0.5 + x / (2 * HALF_WORLD), y: 0.5 - y / (2 * HALF_WORLD) })
  const [southWest, northEast] = [onSquare(left, bottom), onSquare(right, top)]
  const middle = onSquare(0, (bottom + top) / 2).latitude
  const shrinks = Math.cos((middle * Math.PI) / 180)
  return {
    west: wrapLongitude(southWest.longitude),
    south: southWest.latitude,
    east: wrapLongitude(northEast.longitude),
    north: northEast.latitude,
    metresPerPixel: (((view.getResolution() ?? 0) * WORLD_METRES) / (2 * HALF_WORLD)) * shrinks,
  }
}

function extendPart({ west, south, east, north }: MapPart): MapPart {
  const [width, height] = [BEYOND * widthOf({ west, east }), BEYOND * (north - south)]
  return {
    west: wrapLongitude(west - width),
    south: Math.max(-90, south - height),
    east: wrapLongitude(east + width),
    north: Math.min(90, north + height),
  }
}

function holds(outer: MapPart, inner: MapPart): boolean {
  const east = wrapLongitude(inner.west - outer.west)
  const begins = east < 0 ? east + 360 : east
  return (
    begins + widthOf(inner) <= widthOf(outer) &&
    inner.south >= outer.south &&
    inner.north <= outer.north
  )
}

function widthOf({ west, east }: Pick<MapPart, 'west' | 'east'>): number {
  return east < west ? east + 360 - west : east - west
}

/** A longitude within ±180°. */
function wrapLongitude(longitude: number): number {
  return ((((longitude + 180) % 360) + 360) % 360) - 180
}
