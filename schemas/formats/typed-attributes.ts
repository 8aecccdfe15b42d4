import { judgeAttributes, type Attributes } from '../report/attributes.ts'
import { KNOWN_ATTRIBUTES } from '../report/known-attributes.ts'
import type { SentAttributes } from './sent-attributes.ts'
import { parseNumber } from './values.ts'

/**
 * Converts a report's known attributes to their types, regardless of the format they came in:
 * `fuel` "12.0" becomes 12, `ignition` OFF becomes false. Values that do not fit their type remain
 * as sent, and so do all other names.
 */
export function typeAttributes(sent: Attributes): Attributes {
  let typed: Record<string, unknown> | undefined
  for (const name in sent) {
    const value = convertKnown(name, sent[name])
    if (value !== sent[name]) (typed ??= { ...sent })[name] = value
  }
  if (typed === undefined) return sent
  // 1e20 is longer as a number: an oversized event could not be read.
  const judged = judgeAttributes(typed)
  return 'faults' in judged ? sent : (judged.attributes ?? sent)
}

/**
 * Texts of a query, a form or a file converted to the values they spell, under known and other
 * names.
 */
export function typeTexts(attributes: SentAttributes): SentAttributes {
  const typed: Record<string, unknown> = {}
  for (const name of Object.keys(attributes)) typed[name] = typeText(name, attributes[name])
  return typed
}

/**
 * The value of one such text. A number with leading zeros or very many digits is an id, and remains
 * a text.
 */
export function typeText(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value
  if (TYPES.has(name)) return convertKnown(name, value)
  if (value === 'true' || value === 'false') return value === 'true'
  return DECIMAL.test(value) && countDigits(value) <= EXACT_DIGITS ? finite(value) : value
}

const DECIMAL = /^-?(?:(?:0|[1-9]\d*)(?:\.\d+)?|\.\d+)(?:[eE][+-]\d+)?$/
/** The number of significant digits that a number preserves exactly. */
const EXACT_DIGITS = 15

function countDigits(decimal: string): number {
  return decimal.replace(/[eE].*$|[-.]/g, '').replace(/^0+/, '').length
}

function finite(text: string): unknown {
  const number = parseNumber(text)
  // Adding 0 turns a negative zero into 0.
  return number === undefined ? text : number + 0
}

function convertKnown(name: string, value: unknown): unknown {
  if (typeof value !== 'string' && value !== 0 && value !== 1) return value
  const type = TYPES.get(name)
  if (type === 'number') return typeof value === 'string' ? finite(value) : value
  if (type !== 'boolean') return value
  if (isTruthyText(value)) return true
  return NO.test(String(value)) ? false : value
}

/** Whether a value means true, in the spellings used by programs. */
export function isTruthyText(value: unknown): boolean {
  return value === true || value === 1 || (typeof value === 'string' && YES.test(value))
}

const YES = /^(?:on|yes|true|1)$/i
const NO = /^(?:off|no|false|0)$/i

const TYPES = new Map(Object.entries(KNOWN_ATTRIBUTES).map(([name, { type }]) => [name, type]))
