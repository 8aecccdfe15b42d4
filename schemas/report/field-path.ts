import { quoteName } from '../access/keys-in-text.ts'

/**
 * The path of a field in messages: `attributes.fuel`. An invisible name is put in quotes:
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
