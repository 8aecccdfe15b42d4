/**
 * Formats measurements; a missing measurement formats as undefined. Numbers follow the browser's
 * language; unit symbols are English, like the surrounding text.
 */

export const SPEED_UNITS = ['km/h', 'mph', 'knots'] as const
export const LENGTH_UNITS = ['metres', 'feet'] as const

/** The operator's units and number format: without `locale` the browser's. */
export type Units = {
  readonly speed: (typeof SPEED_UNITS)[number]
  readonly length: (typeof LENGTH_UNITS)[number]
  readonly locale?: string
}

export const METRIC: Units = { speed: 'km/h', length: 'metres' }

const KILOMETRE = 1_000
const MILE = 1_609.344
const FOOT = 0.3048
/** Shorter distances are in metres or feet. */
const SHORT = { metres: KILOMETRE, feet: MILE / 10 }

const PER_METRE_A_SECOND = { 'km/h': 3.6, mph: 3_600 / MILE, knots: 3_600 / 1_852 }

/** Converts m/s to the unit, for plot axes. */
export function convertSpeed(unit: Units['speed'], metresPerSecond: number): number {
  return metresPerSecond * PER_METRE_A_SECOND[unit]
}

/** Converts metres to metres or feet, for plot axes. */
export function convertLength(unit: Units['length'], metres: number): number {
  return unit === 'feet' ? metres / FOOT : metres
}

/** Formats m/s as `36 km/h`, `22 mph` or `19 kn`. */
export function speedText(metresPerSecond: number | undefined, units = METRIC): string | undefined {
  if (metresPerSecond === undefined) return undefined
  const number = convertSpeed(units.speed, metresPerSecond)
  return unitText(number, units.speed === 'knots' ? 'kn' : units.speed, units)
}

/** Formats a height or an accuracy in metres as `1,820 m` or `5,971 ft`. */
export function lengthText(metres: number | undefined, units = METRIC): string | undefined {
  if (metres === undefined) return undefined
  return unitText(convertLength(units.length, metres), units.length === 'feet' ? 'ft' : 'm', units)
}

/** Formats a distance in metres as `969 m` and `10.0 km`, or `318 ft` and `6.2 mi`. */
export function distanceText(metres: number | undefined, units = METRIC): string | undefined {
  if (metres === undefined || Math.round(metres) < SHORT[units.length]) {
    return lengthText(metres, units)
  }
  const number = units.length === 'feet' ? metres / MILE : metres / KILOMETRE
  return unitText(number, units.length === 'feet' ? 'mi' : 'km', units, 1)
}

/** Converts metres to kilometres or miles, for plot axes. */
export function convertDistance(unit: Units['length'], metres: number): number {
  return metres / (unit === 'feet' ? MILE : KILOMETRE)
}

/** Formats a number with at most `decimals` decimals: `12,345`. */
export function numberText(number: number, { locale } = METRIC, decimals = 0): string {
  return formatFor(locale, 0, decimals).format(number)
}

/**
 * A count of things: `1 report`, `12,345 reports`; `plural` if it is not the singular with an s.
 */
export function countText(
  number: number,
  singular: string,
  units = METRIC,
  plural = `${singular}s`,
): string {
  return `${numberText(number, units)} ${plurals.select(number) === 'one' ? singular : plural}`
}

/** Plurals are always English, in every number locale. */
const plurals = new Intl.PluralRules('en')

function unitText(number: number, symbol: string, { locale }: Units, digits = 0): string {
  return `${formatFor(locale, digits, digits).format(number)} ${symbol}`
}

/** SI unit symbols, where available. */
const TIME_SYMBOLS = { second: 's', minute: 'min', hour: 'h', day: 'd', year: 'years' }

/** `12 min`. */
export function timeText(number: number, unit: keyof typeof TIME_SYMBOLS, units = METRIC): string {
  return `${numberText(number, units)} ${TIME_SYMBOLS[unit]}`
}

const formats = new Map<string, Intl.NumberFormat>()

/** Cached, because creating one takes longer than formatting a thousand numbers. */
function formatFor(
  locale: string | undefined,
  minimumFractionDigits: number,
  maximumFractionDigits: number,
): Intl.NumberFormat {
  const name = `${locale} ${minimumFractionDigits} ${maximumFractionDigits}`
  const format =
    formats.get(name) ??
    new Intl.NumberFormat(locale, {
      minimumFractionDigits,
      maximumFractionDigits,
      // Avoids a minus before zero.
      signDisplay: 'negative',
    })
  formats.set(name, format)
  return format
}

/** Formats bytes as `605 kB` or `1.2 GB`. */
export function bytesText(bytes: number, units = METRIC): string {
  const power = Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  return unitText(bytes / 1_000 ** power, BYTE_UNITS[power] ?? 'byte', units, power > 1 ? 1 : 0)
}

const BYTE_UNITS = ['byte', 'kB', 'MB', 'GB', 'TB']

/** Formats a fraction as `80 %`. */
export function batteryText(fraction: number | undefined): string | undefined {
  return fraction === undefined ? undefined : `${Math.round(fraction * 100)} %`
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

/** A length for the map's scale: 1, 2 or 5 times a power of ten. */
type MapScale = { readonly text: string; readonly pixels: number }

/** The shortest is two fifths of the maximum, which leaves room for its text. */
const WIDEST_PIXELS = 150
const SMALL_UNITS = { metres: 'm', feet: 'ft' }
/** From this number of metres or feet on, lengths are in kilometres or miles. */
const LARGE_UNITS = {
  metres: { unit: 'km', holds: 1_000 },
  feet: { unit: 'mi', holds: 5_280 },
}

/** The longest round length that fits into the scale. */
export function scaleFor(metresPerPixel: number, units = METRIC): MapScale {
  const perPixel = convertLength(units.length, metresPerPixel)
  const widest = perPixel * WIDEST_PIXELS
  const { unit, holds } =
    widest < LARGE_UNITS[units.length].holds
      ? { unit: SMALL_UNITS[units.length], holds: 1 }
      : LARGE_UNITS[units.length]
  const length = roundBelow(widest / holds)
  return { text: unitText(length, unit, units), pixels: Math.round((length * holds) / perPixel) }
}

function roundBelow(length: number): number {
  const power = 10 ** Math.floor(Math.log10(length))
  return ([5, 2, 1].find((times) => times * power <= length) ?? 1) * power
}
