import { createHash } from 'node:crypto'
import { invalidParams } from '../../runtime/errors.ts'

/** The list a cursor belongs to; it is valid for no other. */
export type List = {
  readonly name: string
  readonly accountId: string
  /** Everything that determines the items and their order. */
  readonly filter?: object
}

type Shapes = {
  readonly text: string
  readonly number: number
  readonly 'number or none': number | null
}
/** A position in a list. */
export type CursorKey = readonly (string | number | null)[]

type Shaped<S extends readonly (keyof Shapes)[]> = { [I in keyof S]: Shapes[S[I]] }

/** Encodes the position after the last item of a page, opaque to callers. */
export function writeCursor(list: List, place: CursorKey): string {
  const text = JSON.stringify(place)
  return `${Buffer.from(text).toString('base64url')}.${checksum(text, list)}`
}

/**
 * Decodes the position in a cursor, as values of the given shapes; undefined without a cursor.
 * @throws {ApiError} 400 for a cursor that is damaged or belongs to another list.
 */
export function readCursor<const S extends readonly (keyof Shapes)[]>(
  cursor: string | undefined,
  list: List,
  shapes: S,
): Shaped<S> | undefined {
  if (cursor === undefined) return undefined
  const [encoded = ''] = cursor.split('.')
  const place = parsePlace(Buffer.from(encoded, 'base64url').toString())
  // The checksum detects mistakes, not forgery, so the position is validated like any input.
  const fits =
    place.length === shapes.length && shapes.every((shape, index) => FITS[shape](place[index]))
  if (!fits || writeCursor(list, place) !== cursor) throw badCursor()
  return place as unknown as Shaped<S>
}

const FITS: { readonly [Shape in keyof Shapes]: (value: unknown) => boolean } = {
  text: (value) => typeof value === 'string',
  number: Number.isSafeInteger,
  'number or none': (value) => value === null || Number.isSafeInteger(value),
}

function parsePlace(text: string): CursorKey {
  try {
    const place: unknown = JSON.parse(text)
    return Array.isArray(place) ? (place as CursorKey) : []
  } catch {
    return []
  }
}

function badCursor(): Error {
  const message =
    'cursor must be the nextCursor of the same list with the same parameters; after an upgrade of the service start again without one'
  return invalidParams([{ field: 'cursor', message }])
}

function checksum(text: string, { accountId, name, filter = {} }: List): string {
  const scoped = JSON.stringify([accountId, name, filter, text])
  return createHash('sha256').update(scoped).digest('base64url').slice(0, 22)
}
