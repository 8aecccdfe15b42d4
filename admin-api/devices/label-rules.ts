import type { JsonSchema } from '../../runtime/openapi/json-schema.ts'
import { LONGEST_LABEL, MOST_LABELS } from '../../schemas/devices/labels.ts'
import { nameRule } from '../http/name-rule.ts'
import { list } from '../http/rule.ts'

const LABEL = `texts of 1 to ${LONGEST_LABEL} characters, without control characters and without white space at their ends`

const label = (field: string) => nameRule(field, { max: LONGEST_LABEL })

/** A list of labels in a body; it may be empty. */
export function labelsRule(field: string) {
  const expected = `${field} must be a list of at most ${MOST_LABELS} different labels: ${LABEL}`
  return list(label(field), { min: 0, max: MOST_LABELS, expected })
}

/** `label` in a query, which may be repeated. */
export const labelParameter = list(label('label'), {
  max: MOST_LABELS,
  expected: `label must be given at most ${MOST_LABELS} times, with different labels: ${LABEL}`,
}).described('A label that the device has; if it is repeated, the device has all of them')

/** The labels of a device in a response. */
export const LABELS: JsonSchema = {
  type: 'array',
  items: { type: 'string' },
  description: 'Sorted',
}
