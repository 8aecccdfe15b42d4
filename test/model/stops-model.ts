/** A judged position: the index of its input, and seconds and metres of the rules' model. */
export type Place = {
  readonly index: number
  readonly at: number
  readonly received: number
  readonly north: number
}

/** A stop: all of five minutes within 100 m of a middle; then all that is within 100 m of the same middle. */
const [STOP_SECONDS, METRES] = [300, 100]
/** Faster than this, in metres a second, is a leap. */
const LEAP = 300

/** By the index of a position: the positions of its stop up to it, or that it moves. Absent: it leapt, which says nothing. */
export function stopsOf(places: readonly Place[]): ReadonlyMap<number, readonly Place[] | 'moves'> {
  const verdicts = new Map<number, readonly Place[] | 'moves'>()
  let last: Place | undefined
  let leapt: Place | undefined
  let stop: { readonly places: Place[]; readonly middle: number } | undefined
  let remembered: Place[] = []

  const take = (place: Place) => {
    last = place
    if (stop !== undefined && Math.abs(place.north - stop.middle) <= METRES) {
      stop.places.push(place)
      return
    }
    if (stop !== undefined) remembered = []
    stop = undefined
    remembered.push(place)
    while (widthOf(remembered) > 2 * METRES) remembered.shift()
    const [first] = remembered
    if (place.at - first!.at >= STOP_SECONDS) {
      const norths = remembered.map(({ north }) => north)
      stop = {
        places: [...remembered],
        middle: (Math.max(...norths) + Math.min(...norths)) / 2,
      }
    }
  }

  for (const place of places) {
    const isBack =
      last !== undefined &&
      leapt !== undefined &&
      !isLeap(last, place) &&
      Math.abs(place.north - last.north) < Math.abs(place.north - leapt.north)
    // The one that leapt was there, unless the next is back where the device was before.
    if (leapt !== undefined && !isBack) take(leapt)
    leapt = undefined
    if (!isBack && last !== undefined && isLeap(last, place)) {
      leapt = place
      continue
    }
    take(place)
    verdicts.set(place.index, stop === undefined ? 'moves' : [...stop.places])
  }
  return verdicts
}

function widthOf(places: readonly Place[]): number {
  const norths = places.map(({ north }) => north)
  return Math.max(...norths) - Math.min(...norths)
}

function isLeap(from: Place, to: Place): boolean {
  return Math.abs(to.north - from.north) / (to.at - from.at || 1) > LEAP
}
