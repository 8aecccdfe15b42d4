import { fieldFailure } from './failure.ts'
import { convertSpeed, type Units } from './measures.ts'
import { fieldUnit } from './readings.ts'
import type { ApiRule, RuleWhen } from './rule-words.ts'

/** The kinds of rules offered by the form, with their display names. */
export const PRESETS = {
  speed: 'Faster than …',
  inside: 'Longer than … at …',
  outside: 'Longer than … away from …',
  temperature: 'Warmer than …',
  battery: 'Battery below …',
  silent: 'Silent for …',
  stopped: 'Parked for …',
  ignition: 'Ignition on',
  other: 'Another value …',
} as const
export type Preset = keyof typeof PRESETS

export const COMPARISONS = { above: 'Above', below: 'Below', is: 'Is' } as const
type Comparison = keyof typeof COMPARISONS

/** The fields of a form, as texts in the operator's units. */
export type RuleDraft = {
  readonly preset: Preset
  readonly field: string
  readonly comparison: Comparison
  readonly value: string
  readonly clear: string
  readonly geofenceId: string
  readonly minutes: string
}

const EMPTY = { field: '', value: '', clear: '', geofenceId: '', minutes: '' }

/** The fields and the comparison of a preset are fixed. */
const FIXED: Partial<Record<Preset, Pick<RuleDraft, 'field' | 'comparison'>>> = {
  speed: { field: 'speed', comparison: 'above' },
  temperature: { field: 'temperature', comparison: 'above' },
  battery: { field: 'battery', comparison: 'below' },
  ignition: { field: 'ignition', comparison: 'is' },
}

export function newDraft(preset: Preset): RuleDraft {
  return { ...EMPTY, comparison: 'above', ...FIXED[preset], preset }
}

export function draftOf({ when, forSeconds }: ApiRule, units: Units): RuleDraft {
  const minutes = forSeconds > 0 ? numberField(forSeconds / 60) : ''
  const draft = { ...EMPTY, comparison: 'above' as const, minutes }
  if ('inside' in when) return { ...draft, preset: 'inside', geofenceId: when.inside }
  if ('outside' in when) return { ...draft, preset: 'outside', geofenceId: when.outside }
  if ('stopped' in when) return { ...draft, preset: 'stopped' }
  if ('silent' in when) return { ...draft, preset: 'silent' }
  const { field } = when
  if ('is' in when) {
    const isIgnition = field === 'ignition' && when.is === true
    const preset = isIgnition ? 'ignition' : 'other'
    return { ...draft, preset, field, comparison: 'is', value: String(when.is) }
  }
  const comparison = 'above' in when ? 'above' : 'below'
  const isOffered = FIXED[field as Preset]?.comparison === comparison
  const shown = (number: number) => numberField(number * scaleOf(field, units))
  return {
    ...draft,
    preset: isOffered ? (field as Preset) : 'other',
    field,
    comparison,
    value: shown('above' in when ? when.above : when.below),
    clear: when.clear === undefined ? '' : shown(when.clear),
  }
}

/** @throws {ApiFailure} for a field that is empty or not a number. */
export function parseWhenDraft(draft: RuleDraft, units: Units): RuleWhen {
  const { preset, comparison, geofenceId } = draft
  if (preset === 'silent') return { silent: true }
  if (preset === 'stopped') return { stopped: true }
  if (preset === 'inside' || preset === 'outside') {
    if (geofenceId === '') throw fieldFailure('geofenceId', 'Choose a geofence.')
    return preset === 'inside' ? { inside: geofenceId } : { outside: geofenceId }
  }
  if (preset === 'ignition') return { field: 'ignition', is: true }
  const field = draft.field.trim()
  if (field === '') throw fieldFailure('when.field', 'Enter the name of a value.')
  const text = draft.value.trim()
  if (comparison === 'is') {
    return { field, is: text === 'true' || text === 'false' ? text === 'true' : text }
  }
  const scale = scaleOf(field, units)
  const limit = parseNumber('when', draft.value) / scale
  const clear =
    draft.clear.trim() === '' ? {} : { clear: parseNumber('when.clear', draft.clear) / scale }
  return comparison === 'above'
    ? { field, above: limit, ...clear }
    : { field, below: limit, ...clear }
}

const LONGEST_MINUTES = 7 * 24 * 60
const LEAST_SILENT_SECONDS = 10

/** @throws {ApiFailure} for a time that the service rejects. */
export function forSecondsOf({ preset, minutes }: RuleDraft): number {
  const number = minutes.trim() === '' ? 0 : parseNumber('forSeconds', minutes)
  const seconds = Math.round(number * 60)
  if (seconds < 0 || number > LONGEST_MINUTES) {
    throw fieldFailure('forSeconds', `Enter minutes from 0 to ${LONGEST_MINUTES}, a week.`)
  }
  if (preset === 'silent' && seconds < LEAST_SILENT_SECONDS) {
    throw fieldFailure('forSeconds', 'Enter the minutes: shorter silences are usual.')
  }
  return seconds
}

/** The unit in which a field is entered. */
export function enteredUnit(field: string, units: Units): string | undefined {
  if (field === 'speed') return units.speed
  return field === 'battery' ? '%' : fieldUnit(field)
}

/** Converts the service's number to the entered one. */
function scaleOf(field: string, units: Units): number {
  if (field === 'speed') return convertSpeed(units.speed, 1)
  return field === 'battery' ? 100 : 1
}

/** @throws {ApiFailure} */
function parseNumber(field: string, text: string): number {
  const number = Number(text.trim().replace(',', '.') || NaN)
  if (!Number.isFinite(number)) throw fieldFailure(field, 'Enter a number.')
  return number
}

/** Rounds off what the conversion between units loses. */
function numberField(number: number): string {
  return String(Math.round(number * 1e6) / 1e6)
}
