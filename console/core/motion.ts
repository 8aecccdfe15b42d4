import { metresBetween, type Coordinates } from '../../schemas/geo/distance.ts'

/** A device's motion, judged by its positions. */
export type Motion = {
  /** Metres per second at the newest position; undefined if unknown. */
  readonly speed: number | undefined
  /** The device's location since `sinceMs`. */
  readonly place: Coordinates
  /** Undefined if it was already there at the first position read. */
  readonly sinceMs: number | undefined
  /** The time of the newest position. */
  readonly atMs: number
}

type MeasuredPosition = Coordinates & { readonly speed?: number; readonly accuracy?: number }

/** 3 km/h: receivers of parked devices report speeds below this; a walker is faster. */
const MOVING_SPEED = 3 / 3.6
/** A parked device's positions are at most this far apart, or as far as its accuracy. */
const STILL_METRES = 50
/** Over a longer time, the average between two positions does not show the current speed. */
const SPEED_WITHIN_MS = 300_000

/**
 * Computes the motion after a newer position.
 *
 * @param isNext whether `position` directly follows the previous one: only then is the time of
 * arrival known.
 *   device came to a place.
 */
export function advanceMotion(
  before: Motion | undefined,
  position: MeasuredPosition,
  { atMs, isNext }: { readonly atMs: number; readonly isNext: boolean },
): Motion {
  const { speed: reportedSpeed, accuracy = 0 } = position
  if (before === undefined)
    return { speed: reportedSpeed, place: position, sinceMs: undefined, atMs }
  const metres = metresBetween(before.place, position)
  const isNear = metres <= Math.max(STILL_METRES, accuracy)
  const isBrief = isNext && atMs > before.atMs && atMs - before.atMs <= SPEED_WITHIN_MS
  const speed =
    reportedSpeed ?? (isNear ? 0 : isBrief ? (1_000 * metres) / (atMs - before.atMs) : undefined)
  if (isNear && !isMoving(before) && !isMoving({ speed })) return { ...before, speed, atMs }
  return { speed, place: position, sinceMs: isNext ? atMs : undefined, atMs }
}

export function isMoving({ speed }: { readonly speed: number | undefined }): boolean {
  return speed !== undefined && speed > MOVING_SPEED
}

/** The heading to show: receivers of parked devices still report one. */
export function headingOf({
  speed,
  heading,
}: {
  readonly speed?: number | undefined
  readonly heading?: number | undefined
}): number | undefined {
  return isMoving({ speed }) ? heading : undefined
}
