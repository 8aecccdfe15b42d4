import { quoteName } from '../access/keys-in-text.ts'
import { COORDINATE_FIELDS, MEASUREMENTS } from './report-fields.ts'
import { isJsonObject } from '../text/json-object.ts'
import { isOneEditAway } from '../text/one-edit-away.ts'

const FIELDS = [
  ...['deviceId', ...COORDINATE_FIELDS.map(({ name }) => name), 'timestamp'],
  ...[...MEASUREMENTS, 'attributes'],
]
/** Fields of our records and their exports, which are not misspellings of the above. */
const OF_RECORDS = ['recordId', 'receivedAt', 'imported', 'name', 'labels']
const KNOWN: ReadonlySet<string> = new Set([...FIELDS, ...OF_RECORDS])
const LETTERS = FIELDS.map(keepLetters)

/** More names than this are not worth listing. */
const MOST_NAMED = 5
/** Maximum number of unknown names compared: more would take milliseconds. */
const MOST_COMPARED = 1000

/**
 * The unknown fields of reports whose names are one letter from a known one, such as `lattitude`,
 * or differ only in case or punctuation: `device_id`. They are ignored like all unknown fields, but
 * hardly on purpose.
 */
export function findMisspeltFields(reports: readonly unknown[]): readonly string[] {
  let found: Set<string> | undefined
  let compared = 0
  for (const report of reports) {
    if (!isJsonObject(report)) continue
    for (const name in report) {
      if (KNOWN.has(name) || report[name] === undefined) {
        continue
      }
      compared += 1
      if (compared > MOST_COMPARED) break
      if (isMisspelt(name)) (found ??= new Set()).add(name)
    }
    if (compared > MOST_COMPARED || (found?.size ?? 0) >= MOST_NAMED) break
  }
  return found === undefined ? NONE : [...found].slice(0, MOST_NAMED)
}

/** A message about reports that also lists their misspelt fields. */
export function addMisspelt(message: string, reports: readonly unknown[]): string {
  const names = findMisspeltFields(reports)
  return names.length === 0 ? message : `${message}; ignored: ${names.map(quoteName).join(', ')}`
}

const NONE: readonly string[] = []

function isMisspelt(name: string): boolean {
  const letters = keepLetters(name)
  return LETTERS.some((known) => isOneEditAway(letters, known))
}

function keepLetters(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, '')
}
