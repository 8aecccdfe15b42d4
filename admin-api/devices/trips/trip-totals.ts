import type { TripOrStop } from '../../../schemas/geo/trip-finder.ts'

/** Sums over trips and stops, each whole. */
export class TripTotals {
  trips = 0
  stops = 0
  distanceMetres = 0
  movingSeconds = 0
  stoppedSeconds = 0

  add(item: TripOrStop): void {
    if (item.kind === 'trip') {
      this.trips += 1
      this.distanceMetres += item.distanceMetres
      this.movingSeconds += item.movingMs / 1_000
    } else {
      this.stops += 1
      this.stoppedSeconds += (item.to - item.from) / 1_000
    }
  }
}
