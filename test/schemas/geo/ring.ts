import type { LonLat } from '../../../schemas/definitions/geofence.ts'

/** A ring from the text of its positions, longitude before latitude: `ring('0 0, 10 0, 10 10, 0 0')`. */
export function ring(text: string): LonLat[] {
  return text.split(', ').map((position) => {
    const [longitude = NaN, latitude = NaN] = position.split(' ').map(Number)
    return [longitude, latitude]
  })
}
