/** Measurements in words; an absent one is none. */

/** From metres a second to `36 km/h`. */
export function speedText(metresPerSecond: number | undefined): string | undefined {
  return metresPerSecond === undefined ? undefined : `${Math.round(metresPerSecond * 3.6)} km/h`
}

/** From a fraction to `80 %`. */
export function batteryText(fraction: number | undefined): string | undefined {
  return fraction === undefined ? undefined : `${Math.round(fraction * 100)} %`
}

export function metresText(metres: number | undefined): string | undefined {
  if (metres === undefined) return undefined
  if (Math.abs(metres) < 10_000) return `${Math.round(metres)} m`
  return `${(metres / 1_000).toFixed(1)} km`
}

/** `52.51630, 13.37770`: precise to 1 m, in the format that other programs accept. */
export function coordinatesText({
  latitude,
  longitude,
}: {
  readonly latitude: number
  readonly longitude: number
}): string {
  return `${latitude.toFixed(5)}, ${longitude.toFixed(5)}`
}
