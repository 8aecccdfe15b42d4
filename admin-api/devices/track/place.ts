/** A point of the earth's surface, in metres from the centre of the earth. */
export type Place = { readonly x: number; readonly y: number; readonly z: number }

const EARTH_RADIUS = 6_371_008.8
const RADIANS = Math.PI / 180

export function placeOf({ latitude, longitude }: { latitude: number; longitude: number }): Place {
  const [lat, lon] = [latitude * RADIANS, longitude * RADIANS]
  const fromAxis = EARTH_RADIUS * Math.cos(lat)
  return {
    x: fromAxis * Math.cos(lon),
    y: fromAxis * Math.sin(lon),
    z: EARTH_RADIUS * Math.sin(lat),
  }
}

/** Along the surface, in metres. */
export function distance(a: Place, b: Place): number {
  const chord = length(a.x - b.x, a.y - b.y, a.z - b.z)
  return 2 * EARTH_RADIUS * Math.asin(Math.min(1, chord / (2 * EARTH_RADIUS)))
}

/** How far `p` is from the point at the fraction `part` of the straight way from `a` to `b`. */
export function deviation(p: Place, a: Place, b: Place, part: number): number {
  return length(
    p.x - a.x - part * (b.x - a.x),
    p.y - a.y - part * (b.y - a.y),
    p.z - a.z - part * (b.z - a.z),
  )
}

/** `Math.hypot` takes many times as long, and no number here comes near its limits. */
function length(x: number, y: number, z: number): number {
  return Math.sqrt(x * x + y * y + z * z)
}
