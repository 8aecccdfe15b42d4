import type { Fault } from '../../runtime/errors.ts'
import { objectOf, type JsonSchema } from '../../runtime/openapi/json-schema.ts'
import type { When } from '../../schemas/definitions/device-rule.ts'
import { fieldPath } from '../../schemas/report/field-path.ts'
import { MEASUREMENT_FIELDS } from '../../schemas/report/report-fields.ts'
import { isJsonObject } from '../../schemas/text/json-object.ts'

const FIELD_PATTERN = '^[A-Za-z][A-Za-z0-9_.-]{0,63}$'
const LONGEST_TEXT = 256

const MEASURED = MEASUREMENT_FIELDS.map(({ name, meaning }) => `${name} (${meaning.toLowerCase()})`)
const FIELD = {
  type: 'string',
  pattern: FIELD_PATTERN,
  description: `${MEASURED.join(', ')}, or the name of an attribute, in the unit that devices report it in`,
}
const LIMIT = { type: 'number', description: 'In the unit of the field' }
const CLEAR = {
  type: 'number',
  description:
    'The condition ends beyond this value; by default the threshold. In the unit of the field',
}

export const WHEN: JsonSchema = {
  title: 'When',
  description: 'The condition',
  oneOf: [
    objectOf({ field: FIELD, above: LIMIT, clear: CLEAR }, { title: 'Above', optional: ['clear'] }),
    objectOf({ field: FIELD, below: LIMIT, clear: CLEAR }, { title: 'Below', optional: ['clear'] }),
    objectOf(
      { field: FIELD, is: { type: ['string', 'boolean'], maxLength: LONGEST_TEXT } },
      { title: 'Is' },
    ),
    objectOf({ inside: { type: 'string', description: 'A geofence' } }, { title: 'Inside' }),
    objectOf({ outside: { type: 'string', description: 'A geofence' } }, { title: 'Outside' }),
    objectOf({ stopped: { const: true } }, { title: 'Stopped' }),
    objectOf({ silent: { const: true } }, { title: 'Silent' }),
  ],
}

type Read = { readonly made: When } | { readonly faults: readonly Fault[] }
type Members = Readonly<Record<string, unknown>>

/** The conditions by their distinguishing member, with their other members. */
const KINDS = {
  above: { others: ['field', 'clear'], read: threshold },
  below: { others: ['field', 'clear'], read: threshold },
  is: { others: ['field'], read: parseEquality },
  inside: { others: [], read: parseGeofenceCondition },
  outside: { others: [], read: parseGeofenceCondition },
  stopped: { others: [], read: always },
  silent: { others: [], read: always },
} as const

const KIND_NAMES = Object.keys(KINDS) as (keyof typeof KINDS)[]

/** Parses the condition of a rule. */
export function parseWhen(value: unknown, field: string): Read {
  const members: Members = isJsonObject(value) ? value : {}
  const kinds = KIND_NAMES.filter((kind) => Object.hasOwn(members, kind))
  const [kind, another] = kinds
  if (kind === undefined || another !== undefined) {
    const message = `${field} must be an object with exactly one of ${KIND_NAMES.join(', ')}`
    return { faults: [{ field, message }] }
  }
  const { others, read } = KINDS[kind]
  const known: readonly string[] = [kind, ...others]
  const faults = Object.keys(members)
    .filter((name) => !known.includes(name))
    .map((name) => {
      const at = fieldPath([field, name])
      return {
        field: at,
        message: `${at} cannot be combined with ${kind}: it takes ${known.join(', ')}`,
      }
    })
  const made = read(members, { kind, field, faults })
  return faults.length > 0 ? { faults } : { made: made as unknown as When }
}

type Place = { readonly kind: string; readonly field: string; readonly faults: Fault[] }

function threshold(members: Members, { kind, field, faults }: Place): object {
  const { clear } = members
  const limit = members[kind]
  requireField(members, { kind, field, faults })
  requireThat(isNumber(limit), faults, `${field}.${kind}`, 'a number')
  if (clear === undefined || clear === null) return { field: members['field'], [kind]: limit }
  const side = kind === 'above' ? 'at most' : 'at least'
  const fits =
    isNumber(clear) && isNumber(limit) && (kind === 'above' ? clear <= limit : clear >= limit)
  requireThat(fits, faults, `${field}.clear`, `a number, ${side} that of ${kind}`)
  return { field: members['field'], [kind]: limit, clear }
}

function parseEquality(members: Members, { kind, field, faults }: Place): object {
  const { is } = members
  requireField(members, { kind, field, faults })
  const isText = typeof is === 'string' && is.length <= LONGEST_TEXT && is.isWellFormed()
  const expected = `true, false or a text of at most ${LONGEST_TEXT} characters`
  requireThat(isText || typeof is === 'boolean', faults, `${field}.is`, expected)
  return { field: members['field'], is }
}

function parseGeofenceCondition(members: Members, { kind, field, faults }: Place): object {
  const id = members[kind]
  const isId = typeof id === 'string' && id !== '' && id.length <= 128 && id.isWellFormed()
  requireThat(isId, faults, `${field}.${kind}`, 'the id of a geofence')
  return { [kind]: id }
}

function always(members: Members, { kind, field, faults }: Place): object {
  requireThat(members[kind] === true, faults, `${field}.${kind}`, 'true')
  return { [kind]: true }
}

function requireField(members: Members, { field, faults }: Place): void {
  const name = members['field']
  const isName = typeof name === 'string' && new RegExp(FIELD_PATTERN).test(name)
  requireThat(isName, faults, `${field}.field`, 'the name of a measurement or an attribute')
}

function requireThat(fits: boolean, faults: Fault[], field: string, expected: string): void {
  if (!fits) faults.push({ field, message: `${field} must be ${expected}` })
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}
