import {
  batteryText,
  lengthText,
  METRIC,
  speedText,
  type Units,
  convertDistance,
  distanceText,
  numberText,
} from './measures.ts'
import { KNOWN_ATTRIBUTES } from '../../schemas/report/known-attributes.ts'

/** The fields that a rule can use: measurements of a position, and attributes. */

export const MEASURED_FIELDS = ['speed', 'battery', 'altitude', 'accuracy', 'heading'] as const

/** The name of a field: `Speed`, `Temperature`. */
export function fieldName(field: string): string {
  if (!(MEASURED_FIELDS as readonly string[]).includes(field)) return attributeName(field)
  return field.charAt(0).toUpperCase() + field.slice(1)
}

/** The value of a field with its unit: `92 km/h`, `20 %`, `-15 °C`. */
export function readingText(
  field: string,
  value: string | number | boolean,
  units: Units = METRIC,
): string {
  if (typeof value !== 'number') return attributeText(field, value, units)
  switch (field) {
    case 'speed':
      return speedText(value, units) ?? ''
    case 'battery':
      return batteryText(value) ?? ''
    case 'altitude':
    case 'accuracy':
      return lengthText(value, units) ?? ''
    case 'heading':
      return `${Math.round(value)}°`
    default:
      return attributeText(field, value, units)
  }
}

/** The unit of a field in the service, if it has one. */
export function fieldUnit(field: string): string | undefined {
  if (field === 'altitude' || field === 'accuracy') return 'm'
  if (field === 'heading') return '°'
  return attributeUnit(field)
}

/** Other data of a device, by name. */
export type DeviceAttributes = Readonly<Record<string, string | number | boolean>>

const ABBREVIATIONS = ['hdop', 'rpm', 'rssi', 'snr']

/** The label of an attribute: `engineHours` is "Engine hours"; unknown ones keep their name. */
export function attributeName(name: string): string {
  if (findKnownReading(name) === undefined) return name
  if (ABBREVIATIONS.includes(name)) return name.toUpperCase()
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** A value with its unit, if the name has one: `21.5 °C`, `yes`, `driving`. */
export function attributeText(
  name: string,
  value: string | number | boolean,
  units = METRIC,
): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'string') return value
  const unit = findKnownReading(name)?.unit
  if (unit === 'm') return distanceText(value, units) ?? ''
  const number = numberText(value, units, 3)
  return unit === undefined ? number : `${number} ${unit}`
}

/** The value of an attribute for a plot's axis: distances are in kilometres or miles. */
export function convertForPlot(
  name: string,
  value: unknown,
  { length }: Units,
): number | undefined {
  if (typeof value !== 'number') return undefined
  return findKnownReading(name)?.unit === 'm' ? convertDistance(length, value) : value
}

/** The name and, if there is one, the unit of `convertForPlot`: `Temperature, °C`. */
export function attributeTitle(name: string, { length }: Units): string {
  const own = findKnownReading(name)?.unit
  const unit = own === 'm' ? (length === 'feet' ? 'mi' : 'km') : own
  return unit === undefined ? attributeName(name) : `${attributeName(name)}, ${unit}`
}

/** The unit of an attribute's number, if it has an agreed one. */
function attributeUnit(name: string): string | undefined {
  return findKnownReading(name)?.unit
}

/** The attributes in display order: those with a defined meaning first. */
export function sortAttributeNames(names: Iterable<string>): string[] {
  const rank = (name: string) => (findKnownReading(name) === undefined ? 1 : 0)
  return [...names].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
}

function findKnownReading(name: string) {
  return Object.hasOwn(KNOWN_ATTRIBUTES, name) ? KNOWN_ATTRIBUTES[name] : undefined
}
