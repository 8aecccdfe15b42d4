import { lengthIn, METRIC, unitText } from './measures.ts'

/** A length of the map's scale: 1, 2 or 5 times a power of ten. */
export type MapScale = { readonly text: string; readonly pixels: number }

const WIDEST_PIXELS = 110
const SHORT = { metres: 'meter', feet: 'foot' }
/** From this number of metres or feet on it is in kilometres or miles. */
const LONG = {
  metres: { unit: 'kilometer', holds: 1_000 },
  feet: { unit: 'mile', holds: 5_280 },
}

/** The longest round length that fits into the scale. */
export function scaleFor(metresPerPixel: number, units = METRIC): MapScale {
  const perPixel = lengthIn(units.length, metresPerPixel)
  const widest = perPixel * WIDEST_PIXELS
  const { unit, holds } =
    widest < LONG[units.length].holds ? { unit: SHORT[units.length], holds: 1 } : LONG[units.length]
  const length = roundBelow(widest / holds)
  return { text: unitText(length, unit, units), pixels: Math.round((length * holds) / perPixel) }
}

function roundBelow(length: number): number {
  const power = 10 ** Math.floor(Math.log10(length))
  return ([5, 2, 1].find((times) => times * power <= length) ?? 1) * power
}
