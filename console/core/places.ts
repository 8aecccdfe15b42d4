import { metresBetween, type Coordinates } from '../../schemas/geo/distance.ts'

export type Stay = {
  readonly position: Coordinates
  readonly name: string | undefined
  readonly ms: number
}

/** A place where a device has stopped once or more. */
export type StayedPlace = Stay & { readonly stays: number }

/** Stops closer together than this count as one place. */
const ONE_PLACE_METRES = 200

/** Groups stays by place, longest total time first. */
export function placesOf(stays: readonly Stay[]): readonly StayedPlace[] {
  const places: StayedPlace[] = []
  // The longest stay has the most accurate centre.
  for (const stay of [...stays].sort((a, b) => b.ms - a.ms)) {
    const index = places.findIndex(
      ({ position }) => metresBetween(position, stay.position) <= ONE_PLACE_METRES,
    )
    const place = places[index]
    if (place === undefined) places.push({ ...stay, stays: 1 })
    else places[index] = { ...place, ms: place.ms + stay.ms, stays: place.stays + 1 }
  }
  return places.sort((a, b) => b.ms - a.ms)
}

type Circle = { readonly x: number; readonly y: number; readonly ms: number }

const LEAST_RADIUS = 5
const MOST_RADIUS = 26

/**
 * Circles whose areas represent their times, in pixels; a circle that would start within a larger
 * one is added to it.
 */
export function circlesOf(
  places: readonly Circle[],
): readonly (Circle & { readonly radius: number })[] {
  const most = places.reduce((longest, { ms }) => Math.max(longest, ms), 1)
  const radiusOf = (ms: number) =>
    Math.max(LEAST_RADIUS, MOST_RADIUS * Math.sqrt(Math.min(1, ms / most)))
  const circles: Circle[] = []
  for (const place of [...places].sort((a, b) => b.ms - a.ms)) {
    const around = circles.findIndex(
      ({ x, y, ms }) => Math.hypot(x - place.x, y - place.y) < radiusOf(ms) + LEAST_RADIUS,
    )
    const circle = circles[around]
    if (circle === undefined) circles.push(place)
    else circles[around] = { ...circle, ms: circle.ms + place.ms }
  }
  return circles.map((circle) => ({ ...circle, radius: radiusOf(circle.ms) }))
}
