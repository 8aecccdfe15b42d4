import type { Coordinates } from '../../schemas/geo/distance.ts'

/** Default radius around a point, in metres. */
const USUAL_METRES = 200
const DECIMALS = 5

/** The path of "Who was here?" around a spot. */
export function visitsPath({ latitude, longitude }: Coordinates): string {
  const [north, east] = [latitude.toFixed(DECIMALS), longitude.toFixed(DECIMALS)]
  return `/visits?latitude=${north}&longitude=${east}&radius=${USUAL_METRES}`
}
