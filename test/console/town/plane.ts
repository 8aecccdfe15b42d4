import type { Position } from 'geojson'

/** The town's location: fields, so that it covers no place of the world map. */
export const MIDDLE = { longitude: 16.75, latitude: 48.02 }
/** From the middle to each edge, in metres. */
export const REACH = 2_200

/** Metres to the east and the north of the town's middle. */
export type Spot = readonly [east: number, north: number]

/** Rotates and bends, so that the grid of streets looks natural. */
export function bent([east, north]: Spot): Spot {
  const [x, y] = [east + 90 * Math.sin(north / 610), north + 70 * Math.sin(east / 480 + 1)]
  const turn = 0.21
  return [x * Math.cos(turn) - y * Math.sin(turn), x * Math.sin(turn) + y * Math.cos(turn)]
}

export function degrees([east, north]: Spot): Position {
  const { longitude, latitude } = MIDDLE
  const metresPerDegree = 111_320
  const across = metresPerDegree * Math.cos((latitude * Math.PI) / 180)
  return [longitude + east / across, latitude + north / metresPerDegree]
}

/** The same random numbers from 0 to 1 in each run. */
export function diceOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return state / 2 ** 32
  }
}
