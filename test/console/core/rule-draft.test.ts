import { expect, test } from '@jest/globals'
import type { ApiFailure } from '../../../console/core/failure.ts'
import { METRIC } from '../../../console/core/measures.ts'
import {
  draftOf,
  enteredUnit,
  forSecondsOf,
  newDraft,
  parseWhenDraft,
  type RuleDraft,
} from '../../../console/core/rule-draft.ts'
import type { ApiRule, RuleWhen } from '../../../console/core/rule-words.ts'

const draft = (preset: RuleDraft['preset'], more: Partial<RuleDraft> = {}) => ({
  ...newDraft(preset),
  ...more,
})

const CASES: readonly (readonly [RuleDraft, RuleWhen])[] = [
  [draft('speed', { value: '90' }), { field: 'speed', above: 25 }],
  [draft('speed', { value: '90', clear: '72' }), { field: 'speed', above: 25, clear: 20 }],
  [draft('temperature', { value: '-15,5' }), { field: 'temperature', above: -15.5 }],
  [draft('battery', { value: '20' }), { field: 'battery', below: 0.2 }],
  [draft('ignition'), { field: 'ignition', is: true }],
  [draft('inside', { geofenceId: 'yard' }), { inside: 'yard' }],
  [draft('outside', { geofenceId: 'yard' }), { outside: 'yard' }],
  [draft('silent'), { silent: true }],
  [draft('stopped'), { stopped: true }],
  [
    draft('other', { field: 'fuel', comparison: 'below', value: '10' }),
    { field: 'fuel', below: 10 },
  ],
  [
    draft('other', { field: 'doorOpen', comparison: 'is', value: 'false' }),
    { field: 'doorOpen', is: false },
  ],
  [
    draft('other', { field: 'activity', comparison: 'is', value: 'driving' }),
    { field: 'activity', is: 'driving' },
  ],
]

test.each(CASES)('the form %j makes the condition %j', (form, when) => {
  expect(parseWhenDraft(form, METRIC)).toEqual(when)
})

test.each(CASES)('opening a rule shows the form %j again', (form, when) => {
  const rule = { when, forSeconds: 0 } as ApiRule
  const shown = { ...form, value: form.value.replace(',', '.') }
  const isIgnition = form.preset === 'ignition'
  expect(draftOf(rule, METRIC)).toEqual({ ...shown, ...(isIgnition && { value: 'true' }) })
})

test('a speed keeps its value in each unit', () => {
  for (const speed of ['km/h', 'mph', 'knots'] as const) {
    const units = { ...METRIC, speed }
    const when = parseWhenDraft(draft('speed', { value: '55' }), units)
    expect(draftOf({ when, forSeconds: 0 } as ApiRule, units).value).toBe('55')
    expect(enteredUnit('speed', units)).toBe(speed)
  }
})

test.each([
  [draft('speed', { minutes: '1.5' }), 90],
  [draft('speed', { minutes: '' }), 0],
  [draft('silent', { minutes: '60' }), 3_600],
])('the minutes of %j are %d s', (form, seconds) => {
  expect(forSecondsOf(form)).toBe(seconds)
})

const failing = (run: () => unknown) => {
  try {
    run()
  } catch (thrown) {
    return (thrown as ApiFailure).details[0]
  }
  throw new Error('nothing was thrown')
}

test.each([
  ['when', () => parseWhenDraft(draft('speed', { value: 'fast' }), METRIC)],
  ['when', () => parseWhenDraft(draft('speed'), METRIC)],
  ['when.clear', () => parseWhenDraft(draft('speed', { value: '9', clear: 'x' }), METRIC)],
  ['when.field', () => parseWhenDraft(draft('other', { value: '1' }), METRIC)],
  ['geofenceId', () => parseWhenDraft(draft('inside'), METRIC)],
  ['forSeconds', () => forSecondsOf(draft('silent'))],
  ['forSeconds', () => forSecondsOf(draft('speed', { minutes: '10081' }))],
  ['forSeconds', () => forSecondsOf(draft('speed', { minutes: 'long' }))],
])('a fault is at the field %s', (field, run) => {
  expect(failing(run)).toMatchObject({ field, message: expect.stringMatching(/^[A-Z]/) })
})
