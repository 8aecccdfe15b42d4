import { quoteName } from '../access/keys-in-text.ts'

/**
 * Formats a field's path for messages: `attributes.fuel`. Quotes invisible names:
 * `names[""]`.
 */
export function fieldPath(steps: readonly string[]): string {
  return steps.map(pathStep).join('')
}

function pathStep(name: string, place: number): string {
  const shown = quoteName(name)
  if (shown.trim() !== '') return place === 0 ? shown : `.${shown}`
  return place === 0 ? JSON.stringify(shown) : `[${JSON.stringify(shown)}]`
}
