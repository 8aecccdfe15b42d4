import { fromInput } from './zoned-input.ts'

const LAST_OF_SECOND_MS = 999

/**
 * The moment of a day that a text such as `14:05` or `14:05:55` names in a zone, with all reports of
 * that second; undefined for any other text.
 */
export function momentOf(day: string, text: string, zone: string): number | undefined {
  if (!/^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?$/.test(text)) return undefined
  const at = fromInput(`${day}T${text}`, zone)
  return at === undefined ? undefined : at + LAST_OF_SECOND_MS
}
