import { KNOWN_ATTRIBUTES } from '../../schemas/report/known-attributes.ts'
import { distanceText, METRIC, numberText } from './measures.ts'

/** Other data of a device, by name. */
export type DeviceAttributes = Readonly<Record<string, string | number | boolean>>

const ABBREVIATIONS = ['hdop', 'rpm', 'rssi', 'snr']

/** The label of an attribute: `engineHours` is "Engine hours"; unknown ones keep their name. */
export function attributeName(name: string): string {
  if (known(name) === undefined) return name
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
  const unit = known(name)?.unit
  if (unit === 'm') return distanceText(value, units) ?? ''
  const number = numberText(value, units, 3)
  return unit === undefined ? number : `${number} ${unit}`
}

/** The name and, where there is one, the unit: `Temperature, °C`. */
export function attributeTitle(name: string): string {
  const unit = known(name)?.unit
  return unit === undefined ? attributeName(name) : `${attributeName(name)}, ${unit}`
}

/** The unit of an attribute's number, if it has an agreed one. */
export function attributeUnit(name: string): string | undefined {
  return known(name)?.unit
}

/** The attributes in display order: those with an agreed meaning first. */
export function inShownOrder(names: Iterable<string>): string[] {
  const rank = (name: string) => (known(name) === undefined ? 1 : 0)
  return [...names].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
}

function known(name: string) {
  return Object.hasOwn(KNOWN_ATTRIBUTES, name) ? KNOWN_ATTRIBUTES[name] : undefined
}
