/** A position or its repeat: the input's index, and seconds and metres as in the rules' model. */
export type Place = {
  readonly index: number
  readonly at: number
  readonly received: number
  readonly north: number
  /** Repeats the previous position. */
  readonly isRepeat?: true
}

/**
 * A stop: all of five minutes within 100 m of a middle; then all that is within 100 m of the same middle. The first place
 * beyond it moves the middle, once, if all places since the stop was found, the last of the five minutes and itself
 * included, are of five minutes and no wider than 100 m; else it ends the stop. The new middle is the mean of these places,
 * each weighted by the time until the next.
 */
const [STOP_SECONDS, METRES] = [300, 100]
/** A device seen at a position for this long stays there until it is seen elsewhere. */
const SEEN_SECONDS = 60
/** Faster than this (m/s) is a leap. */
const LEAP = 300

/**
 * The state of a stop at an input or, without an index, at a time by which nothing else was
 * received.
 */
export type StopNews = {
  readonly index?: number
  readonly at: number
  readonly received: number
  /**
   * The positions of its stop so far, or that it moves. Absent after a leap, which decides nothing.
   */
  readonly stop?: readonly Place[] | 'moves'
}

export function stopNews(places: readonly Place[], end: number): StopNews[] {
  const news: StopNews[] = []
  let last: Place | undefined
  let leapt: Place | undefined
  let stop: OpenStop | undefined
  let remembered: Place[] = []

  /** By a new position, or because nothing else was received. */
  const found = (since: readonly Place[] = []) => {
    stop = { places: [...remembered], middle: middleOf(remembered), since }
  }

  const take = (place: Place) => {
    last = place
    const { since } = stop ?? {}
    if (stop !== undefined && since !== undefined) {
      const isHere = Math.abs(place.north - stop.middle) <= METRES
      const all = [...since, place]
      const rests = place.at - all[0]!.at >= STOP_SECONDS && widthOf(all) <= METRES
      if (isHere) stop = { ...stop, since: all }
      else if (rests) stop = { ...stop, middle: meanOf(all), since: undefined }
    }
    if (stop !== undefined && Math.abs(place.north - stop.middle) <= METRES) {
      stop.places.push(place)
      return
    }
    if (stop !== undefined) remembered = []
    stop = undefined
    remembered.push(place)
    while (widthOf(remembered) > 2 * METRES) remembered.shift()
    if (place.at - remembered[0]!.at >= STOP_SECONDS) found([place])
  }

  /**
   * How long the device was seen there, and how long it has been there if it has not moved since.
   */
  const restUntil = (now: number) => {
    const [first, last] = [remembered[0]!, positionsOf(remembered).at(-1)!]
    return last.at - first.at + now - last.received
  }

  /** Silence until the next input, during which the device is found to have stopped. */
  const beSilent = (until: number) => {
    if (stop !== undefined || leapt !== undefined || remembered.length === 0) return
    if (restUntil(remembered.at(-1)!.received) < SEEN_SECONDS) return
    const { at, received } = positionsOf(remembered).at(-1)!
    const left = STOP_SECONDS - restUntil(received)
    if (received + left > until) return
    found()
    news.push({ at: at + left, received: received + left, stop: [...stop!.places] })
  }

  for (const place of places) {
    beSilent(place.received)
    // The latest repeat counts, until the next position, which may have an earlier time and tells
    // more.
    remembered = positionsOf(remembered)
    stop = stop && { ...stop, places: positionsOf(stop.places) }
    const { index, at, received } = place
    if (place.isRepeat === true) {
      if (stop !== undefined) stop.places.push(place)
      else if (leapt === undefined) {
        remembered.push(place)
        if (restUntil(received) >= STOP_SECONDS) found()
      }
    } else {
      const isBack =
        last !== undefined &&
        leapt !== undefined &&
        !isLeap(last, place) &&
        Math.abs(place.north - last.north) < Math.abs(place.north - leapt.north)
      // The leap counts, unless the next position is back where the device was before.
      if (leapt !== undefined && !isBack) take(leapt)
      leapt = undefined
      if (!isBack && last !== undefined && isLeap(last, place)) leapt = place
      else take(place)
    }
    const known = stop === undefined ? 'moves' : [...stop.places]
    news.push({ index, at, received, ...(leapt === undefined && { stop: known }) })
  }
  beSilent(end)
  return news
}

type OpenStop = {
  readonly places: Place[]
  readonly middle: number
  /** Undefined once the middle has moved. */
  readonly since: readonly Place[] | undefined
}

function middleOf(places: readonly Place[]): number {
  const norths = places.map(({ north }) => north)
  return (Math.max(...norths) + Math.min(...norths)) / 2
}

function meanOf(places: readonly Place[]): number {
  let sum = 0
  for (const [index, { at, north }] of places.entries()) {
    sum += north * ((places[index + 1]?.at ?? at) - at)
  }
  return sum / (places.at(-1)!.at - places[0]!.at)
}

function positionsOf(places: readonly Place[]): Place[] {
  return places.filter(({ isRepeat }) => isRepeat !== true)
}

function widthOf(places: readonly Place[]): number {
  const norths = places.map(({ north }) => north)
  return Math.max(...norths) - Math.min(...norths)
}

function isLeap(from: Place, to: Place): boolean {
  return Math.abs(to.north - from.north) / (to.at - from.at || 1) > LEAP
}
