import type { SentAttributes } from '../sent-attributes.ts'
import { RANGES } from '../../report/report-fields.ts'
import { isTruthyText } from '../typed-attributes.ts'
import { parseNumber, parseObject, parseText } from '../values.ts'

const LONGITUDE = '4197'
const LATITUDE = '4198'
const BATTERY = '3000'
const EVENTS = '4200'
const SOS_EVENT = 7
const SOS = /^sos\b/i
/** Our names of measurements; other measurements are named by their type. */
const NAMES = new Map([
  ['4097', 'temperature'],
  ['4199', 'light'],
])

type Measurements = {
  /** Percent. */
  readonly battery: unknown
  readonly attributes: SentAttributes
}

/** The measurements of one moment that include a position. */
export type SensecapFrame = Measurements & {
  readonly latitude: number
  readonly longitude: number
  /** Milliseconds since the epoch, as sent. */
  readonly time: unknown
}

/**
 * The `messages` of SenseCAP's decoders: lists of `{measurementId, type, measurementValue,
 * timestamp}`, one per moment. `others` are the measurements of moments without a position.
 */
export function readFrames(messages: unknown): {
  readonly frames: readonly SensecapFrame[]
  readonly others: Measurements
} {
  const frames: SensecapFrame[] = []
  let others: Measurements = { battery: undefined, attributes: {} }
  for (const message of Array.isArray(messages) ? messages : []) {
    // Older decoders have one list.
    const elements = (Array.isArray(message) ? message : [message])
      .map(parseObject)
      .filter((element) => element !== undefined)
    const { battery, attributes, latitude, longitude, time } = frameOf(elements)
    if (latitude !== undefined && longitude !== undefined) {
      frames.push({ latitude, longitude, time, battery, attributes })
    } else {
      others = {
        battery: battery ?? others.battery,
        attributes: { ...others.attributes, ...attributes },
      }
    }
  }
  return { frames, others }
}

function frameOf(elements: readonly Readonly<Record<string, unknown>>[]) {
  const attributes: Record<string, unknown> = {}
  let battery: unknown
  let latitude: number | undefined
  let longitude: number | undefined
  let time: unknown
  for (const { measurementId, measurementValue: value, type, timestamp } of elements) {
    const id = parseText(measurementId) ?? ''
    time ??= timestamp
    if (isSos(id, type, value)) attributes['alarm'] = 'sos'
    if (id === LATITUDE) latitude = numberWithin(value, RANGES.latitude)
    else if (id === LONGITUDE) longitude = numberWithin(value, RANGES.longitude)
    else if (id === BATTERY) battery = value
    else {
      const name = NAMES.get(id) ?? (typeof type === 'string' ? toCamelCase(type) : '')
      // SenseCAP sends some numbers as texts.
      if (name !== '' && isScalar(value)) attributes[name] = parseNumber(value) ?? value
    }
  }
  return { battery, attributes, latitude, longitude, time }
}

/**
 * Events are a list of `{id, eventName}`, or in other decoders a single one, as a number or a text.
 */
function isSos(id: string, type: unknown, value: unknown): boolean {
  if (SOS.test(parseText(type) ?? '') && isTruthyText(value)) return true
  return (Array.isArray(value) ? (value as unknown[]) : [value]).some((event) => {
    const { id: number = event, eventName: name = event } = parseObject(event) ?? {}
    return SOS.test(parseText(name) ?? '') || (id === EVENTS && parseNumber(number) === SOS_EVENT)
  })
}

function numberWithin(
  value: unknown,
  [least, greatest]: readonly [number, number],
): number | undefined {
  const number = parseNumber(value)
  return number !== undefined && number >= least && number <= greatest ? number : undefined
}

function isScalar(value: unknown): boolean {
  return ['number', 'string', 'boolean'].includes(typeof value)
}

/** `Air Temperature` → `airTemperature`. */
export function toCamelCase(type: string): string {
  const words = type.match(/[A-Za-z0-9]+/g) ?? []
  const joined = words
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase())
    .join('')
  return joined.charAt(0).toLowerCase() + joined.slice(1)
}
