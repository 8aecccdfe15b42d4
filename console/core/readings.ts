import { attributeName, attributeText, attributeUnit } from './attributes.ts'
import { batteryText, lengthText, METRIC, speedText, type Units } from './measures.ts'

/** The fields of a rule: measurements of a position, and attributes. */

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
