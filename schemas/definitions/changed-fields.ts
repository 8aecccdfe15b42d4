import { isDeepStrictEqual } from 'node:util'
import type { FieldRevisions } from './field-revisions.ts'

/** Parts of a stored definition that no call sets. */
const KEPT: ReadonlySet<string> = new Set([
  'id',
  'accountId',
  'createdAt',
  'changedAt',
  'revision',
  'changedIn',
  'inForceSince',
  'enabledSince',
  'sealed',
  'progress',
])

type Versioned = { readonly revision: number; readonly changedIn?: FieldRevisions }

/** The names of the fields that differ. */
export function listChangedFields(before: object, after: object): readonly string[] {
  const [old, next] = [before, after] as Readonly<Record<string, unknown>>[]
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].filter(
    (name) => !KEPT.has(name) && !isDeepStrictEqual(old?.[name], next?.[name]),
  )
}

/** The field revisions after a change of these fields, which produces the next revision. */
export function updateFieldRevisions(
  { revision, changedIn }: Versioned,
  fields: readonly string[],
): { readonly changedIn: FieldRevisions } {
  return {
    changedIn: { ...changedIn, ...Object.fromEntries(fields.map((name) => [name, revision + 1])) },
  }
}
