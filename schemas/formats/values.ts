import { maskApiKeys } from '../access/keys-in-text.ts'
import { RANGES, type Measurement, type Measurements } from '../report/report-fields.ts'
import { parseIso8601 } from '../text/iso-8601.ts'
import { isJsonObject } from '../text/json-object.ts'

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
/** No more digits than are meaningful: a converted 0.211914 knots is not 0.10901788596 m/s. */
const DECIMALS = 1e6

/** Factors from each unit to metres per second. */
export const METRES_PER_SECOND = { kn: 0.514444, kmh: 1 / 3.6, mph: 0.44704, mps: 1 } as const

export type SentMeasurements = { -readonly [Name in keyof Measurements]: Measurements[Name] }

/** A number, possibly written as text; undefined for everything else. */
export function parseNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value !== 'string') return undefined
  const text = value.trim()
  if (!NUMBER.test(text)) return undefined
  const number = Number(text)
  return Number.isFinite(number) ? number : undefined
}

/**
 * Replaces an id that is a JSON number beyond 2⁵³: parsing has changed its digits, so that it could
 * be another device's id. No device has this one.
 */
export const INEXACT_ID = '\ud800 beyond 2^53'

export const INEXACT_ID_FAULT =
  'the device’s id is a number beyond 2⁵³, of which JSON keeps only the first digits: send it as a text'

/** A text without surrounding white space; undefined if it is empty, or not a text. */
export function parseText(value: unknown): string | undefined {
  // Some apps number their devices.
  const text = typeof value === 'number' ? exactText(value) : value
  if (typeof text !== 'string') return undefined
  const trimmed = text.trim()
  return trimmed === '' ? undefined : trimmed
}

function exactText(number: number): string {
  return Math.abs(number) > Number.MAX_SAFE_INTEGER ? INEXACT_ID : String(number)
}

/** Whether a field was sent and is not empty. */
export function isSent(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}

/** The number of characters of a value quoted in a message. */
const SHOWN_LENGTH = 40

/** A value as sent, for people: truncated, texts in quotes. Undefined if it was not sent. */
export function quoteValue(value: unknown): string | undefined {
  if (!isSent(value)) return undefined
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? '[…]' : '{…}'
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value)
  const kept = text.slice(0, SHOWN_LENGTH)
  return maskApiKeys(kept, { cut: kept.length < text.length }).toWellFormed()
}

/** The fields of a JSON object; undefined for everything else. */
export function parseObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isJsonObject(value) ? value : undefined
}

/** The value of a JSON text; undefined if it is not JSON. */
export function parseJsonText(text: string): unknown {
  // For rows without attributes: an exception for each would take a third of an import's time.
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Sets a measurement if it is a number in range. Otherwise the measurement is omitted, and the
 * point remains: apps write -1 for unknown values.
 */
export function measure(to: SentMeasurements, name: Measurement, value: unknown, factor = 1): void {
  const number = parseNumber(value)
  if (number === undefined) return
  const inOurUnit = factor === 1 ? number : convertUnit(number, factor)
  const [least, greatest] = RANGES[name]
  // Adding 0 turns a negative zero into 0.
  if (inOurUnit >= least && inOurUnit <= greatest) to[name] = inOurUnit + 0
}

/** The values sent as measurements, and the factors that convert them to our units. */
type SentValues = { readonly [Name in Measurement]?: unknown }
type Factors = { readonly speed?: number; readonly battery?: number }

/** The battery level in percent, where 1 means 1 %. */
export const PERCENT: Factors = { battery: 0.01 }

/** All measurements that `measure` accepts. */
export function parseMeasurements(
  { accuracy, altitude, speed, heading, battery }: SentValues,
  factors: Factors = NO_FACTORS,
): SentMeasurements {
  const measured: SentMeasurements = {}
  measure(measured, 'accuracy', accuracy)
  measure(measured, 'altitude', altitude)
  measure(measured, 'speed', speed, factors.speed)
  measure(measured, 'heading', heading)
  measure(measured, 'battery', battery, factors.battery)
  return measured
}

const NO_FACTORS: Factors = {}

/** A number in another unit. */
export function convertUnit(number: number, factor: number): number {
  return Math.round(number * factor * DECIMALS) / DECIMALS
}

/** Sets the battery level from a fraction; values above 1 are percent. */
export function measureBattery(to: SentMeasurements, value: unknown): void {
  measure(to, 'battery', value, (parseNumber(value) ?? 0) > 1 ? 0.01 : 1)
}

/** Numbers below this are seconds since 1970, others milliseconds. */
const MILLISECONDS_FROM = 2 ** 31
const DIGITS = /^[+-]?\d+(?:\.\d*)?$/
/** `2014-06-04 09:10:11`: a space instead of the T. */
const SPACED = /^(\d{4}-?\d\d-?\d\d) +(?=\d\d)/
/** `2019/05/21 10:47:00+02`, as written by GDAL. */
const SLASHED = /^(\d{4})\/(\d\d)\/(\d\d)(?= )/
/** Ruby's suffix. */
const UTC = / (?:UTC|GMT)$/
/** A space before the offset. */
const SPACED_OFFSET = /^(.*:\d\d(?:[.,]\d+)?) +(?=[+-]\d\d(?::?\d\d)?$)/
/** In a query, an unencoded plus has become a space. */
const LOST_PLUS = /^(.*[Tt].*) (\d\d(?::?\d\d)?)$/

/** The milliseconds since the epoch of a time in an app's spelling; NaN if it is not a time. */
export function parseTime(value: unknown): number {
  if (typeof value === 'number') return epochToMs(value)
  if (typeof value !== 'string') return NaN
  const text = value.trim()
  if (DIGITS.test(text)) return epochToMs(Number(text))
  return parseIso8601(text) ?? parseIso8601(stripSpaces(text)) ?? NaN
}

function epochToMs(number: number): number {
  return Math.round(number < MILLISECONDS_FROM ? number * 1000 : number)
}

function stripSpaces(text: string): string {
  return text
    .replace(SLASHED, '$1-$2-$3')
    .replace(UTC, 'Z')
    .replace(SPACED, '$1T')
    .replace(SPACED_OFFSET, '$1')
    .replace(LOST_PLUS, '$1+$2')
}
