import type { Coordinates } from '../../schemas/geo/distance.ts'

/** The radius of a spot, in metres, until another is chosen. */
const USUAL_METRES = 200
const DECIMALS = 5

/** The path of "Who was here?" around a spot. */
export function visitsPath({ latitude, longitude }: Coordinates): string {
  const [north, east] = [latitude.toFixed(DECIMALS), longitude.toFixed(DECIMALS)]
  return `/visits?latitude=${north}&longitude=${east}&radius=${USUAL_METRES}`
}
