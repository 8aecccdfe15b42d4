import type { Fault } from '../../runtime/errors.ts'
import { objectOf, type JsonSchema } from '../../runtime/openapi/json-schema.ts'
import { fieldPath } from '../../schemas/report/field-path.ts'
import { isTimeZone } from '../../schemas/geo/local-time.ts'
import type { Hours } from '../../schemas/subscriptions/subscription.ts'
import { isJsonObject } from '../../schemas/text/json-object.ts'

export const HOURS: JsonSchema = objectOf(
  {
    days: {
      type: 'array',
      items: { type: 'integer', minimum: 1, maximum: 7 },
      minItems: 1,
      maxItems: 7,
      description: '1: Monday',
    },
    from: { type: 'string', pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$' },
    to: {
      type: 'string',
      pattern: '^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$',
      description:
        'If before `from`, on the next day; the night belongs to the day on which it starts',
    },
    zone: { type: 'string', description: 'IANA, `Europe/Berlin`' },
  },
  { description: 'Only events within these hours are sent' },
)

export function parseHours(
  value: unknown,
  field: string,
): { readonly made: Hours } | { readonly faults: readonly Fault[] } {
  if (!isJsonObject(value)) {
    return {
      faults: [{ field, message: `${field} must be an object with days, from, to and zone` }],
    }
  }
  const { days, from, to, zone, ...others } = value
  const faults = Object.keys(others).map((name) => {
    const at = fieldPath([field, name])
    return { field: at, message: `${at} is unknown: ${field} takes days, from, to and zone` }
  })
  const requireThat = (fits: boolean, name: string, expected: string) => {
    const at = `${field}.${name}`
    if (!fits) faults.push({ field: at, message: `${at} must be ${expected}` })
  }
  requireThat(areDays(days), 'days', 'a list of different days, from 1 (Monday) to 7')
  requireThat(isTime(from), 'from', 'a time of day, HH:MM')
  const isEnd = to === '24:00' || isTime(to)
  requireThat(isEnd && to !== from, 'to', 'a time of day, HH:MM, other than from')
  const isZone = typeof zone === 'string' && isTimeZone(zone)
  requireThat(isZone, 'zone', 'the name of a time zone, such as Europe/Berlin')
  return faults.length > 0 ? { faults } : { made: { days, from, to, zone } as Hours }
}

function areDays(days: unknown): boolean {
  return (
    Array.isArray(days) &&
    days.length > 0 &&
    new Set(days).size === days.length &&
    days.every((day) => Number.isInteger(day) && day >= 1 && day <= 7)
  )
}

function isTime(text: unknown): text is string {
  return typeof text === 'string' && /^([01]\d|2[0-3]):[0-5]\d$/.test(text)
}
