import { ApiFailure, toFailure, type FieldFault } from './failure.ts'

type Fields = Readonly<Record<string, unknown>>
type Versioned = { readonly revision: number }

/** Finds the form values that differ from the initial ones; null means empty. */
export function findChangedValues(before: object, entered: object): Fields {
  return Object.fromEntries(
    Object.entries(entered).filter(([name, value]) => !isSame((before as Fields)[name], value)),
  )
}

/**
 * Saves what was changed in a form, and nothing else. Changes made by others in the meantime
 * remain. If they concern the same field, the returned function throws an `ApiFailure` that says so
 * at the field, and replaces the value the next time.
 */
export function changeSaver<Item extends Versioned>(
  before: Item,
  {
    send,
    read,
  }: {
    readonly send: (body: Fields & Versioned) => Promise<Item>
    readonly read: () => Promise<Item>
  },
): (entered: object) => Promise<{ readonly saved: Item; readonly others: readonly string[] }> {
  let seen = before.revision
  return async function save(entered) {
    const mine = findChangedValues(before, entered)
    if (Object.keys(mine).length === 0) return { saved: before, others: [] }
    try {
      return { saved: await send({ ...mine, revision: seen }), others: [] }
    } catch (thrown) {
      const { error, details } = toFailure(thrown)
      if (error !== 'CONFLICT' || details.length === 0) throw thrown
      const current = await read()
      seen = current.revision
      const others = details.map(({ field }) => field)
      const both = others.filter(
        (field) => Object.hasOwn(mine, field) && !isSame((current as Fields)[field], mine[field]),
      )
      if (both.length > 0) throw changedMeanwhileFailure(both, current)
      return { saved: await send({ ...mine, revision: seen }), others }
    }
  }
}

function changedMeanwhileFailure(fields: readonly string[], current: Fields): ApiFailure {
  const details = fields.map((field): FieldFault => ({
    field,
    message: `Somebody else has changed this in the meantime${words(current[field])}. Save again to replace it.`,
  }))
  const message = `Somebody else has changed this in the meantime: ${fields.join(', ')}. Save again to replace it.`
  return new ApiFailure(message, { status: 409, error: 'CONFLICT', details })
}

function words(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? ` to “${value}”` : ''
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(sortKeys(a)) === JSON.stringify(sortKeys(b))
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value ?? null
  return Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, one]) => [name, sortKeys(one)])
}
