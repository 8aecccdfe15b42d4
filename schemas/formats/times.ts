import { parseIso8601 } from '../text/iso-8601.ts'

/** Numbers below this are seconds since 1970, others milliseconds. */
const MILLISECONDS_FROM = 2 ** 31
const DIGITS = /^[+-]?\d+(?:\.\d*)?$/
/** `2014-06-04 09:10:11`: a space instead of the T. */
const SPACED = /^(\d{4}-?\d\d-?\d\d) +(?=\d\d)/
/** `2019/05/21 10:47:00+02`, as GDAL writes it. */
const SLASHED = /^(\d{4})\/(\d\d)\/(\d\d)(?= )/
/** Ruby ends its texts like this. */
const UTC = / (?:UTC|GMT)$/
/** A space before the offset. */
const SPACED_OFFSET = /^(.*:\d\d(?:[.,]\d+)?) +(?=[+-]\d\d(?::?\d\d)?$)/
/** In a query, an unencoded plus has become a space. */
const LOST_PLUS = /^(.*[Tt].*) (\d\d(?::?\d\d)?)$/

/** Milliseconds since the epoch of a time as apps write it; NaN if it is not a time. */
export function timeIn(value: unknown): number {
  if (typeof value === 'number') return fromEpoch(value)
  if (typeof value !== 'string') return NaN
  const text = value.trim()
  if (DIGITS.test(text)) return fromEpoch(Number(text))
  return parseIso8601(text) ?? parseIso8601(withoutSpaces(text)) ?? NaN
}

function fromEpoch(number: number): number {
  return Math.round(number < MILLISECONDS_FROM ? number * 1000 : number)
}

function withoutSpaces(text: string): string {
  return text
    .replace(SLASHED, '$1-$2-$3')
    .replace(UTC, 'Z')
    .replace(SPACED, '$1T')
    .replace(SPACED_OFFSET, '$1')
    .replace(LOST_PLUS, '$1+$2')
}
