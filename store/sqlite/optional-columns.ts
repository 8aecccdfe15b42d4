import type { Value } from '../../runtime/sqlite/database.ts'
import {
  MEASUREMENTS,
  OPTIONAL_FIELDS,
  type Attributes,
  type OptionalFields,
} from '../../schemas/report/report-fields.ts'

/** The names of the optional fields' columns, in their order. */
export const OPTIONAL_NAMES: readonly string[] = OPTIONAL_FIELDS

/** The values for these columns; null where there is none. */
export function optionalValues(from: OptionalFields): Value[] {
  const { attributes, imported } = from
  const values: Value[] = []
  for (const name of MEASUREMENTS) values.push(from[name] ?? null)
  values.push(
    attributes === undefined ? null : JSON.stringify(attributes),
    imported === true ? 1 : null,
  )
  return values
}

/** The optional fields of a row, from its column `first` on. */
export function optionalFieldsIn(row: readonly unknown[], first: number): OptionalFields {
  const fields: { -readonly [Name in keyof OptionalFields]: OptionalFields[Name] } = {}
  let column = first
  for (const name of MEASUREMENTS) {
    const value = row[column] as number | null
    if (value !== null) fields[name] = value
    column += 1
  }
  const attributes = row[column] as string | null
  if (attributes !== null) fields.attributes = JSON.parse(attributes) as Attributes
  if (row[column + 1] !== null) fields.imported = true
  return fields
}
