import type { components } from '../api/schema.ts'
import { attributeName, fieldName, readingText } from './readings.ts'
import { METRIC, type Units } from './measures.ts'
import { duration } from './times.ts'

export type ApiRule = components['schemas']['Rule']
export type RuleWhen = ApiRule['when']

/** The names of geofences, by id. */
export type GeofenceNames = ReadonlyMap<string, string>

/** A rule as a phrase: `Faster than 90 km/h for 1 min, in Yard`. */
export function ruleText(
  {
    when,
    forSeconds = 0,
    geofenceIds,
  }: Pick<ApiRule, 'when'> & Partial<Pick<ApiRule, 'forSeconds' | 'geofenceIds'>>,
  names: GeofenceNames,
  units: Units = METRIC,
): string {
  const nameOf = (id: string) => names.get(id) ?? 'a geofence'
  const lasts = forSeconds > 0 ? ` for ${duration(forSeconds * 1_000, units)}` : ''
  const places = geofenceIds === undefined ? '' : `, in ${geofenceIds.map(nameOf).join(' or ')}`
  return conditionText(when, nameOf, units) + lasts + endText(when, units) + places
}

function conditionText(when: RuleWhen, nameOf: (id: string) => string, units: Units): string {
  if ('inside' in when) return `At ${nameOf(when.inside)}`
  if ('outside' in when) return `Away from ${nameOf(when.outside)}`
  if ('stopped' in when) return 'Parked'
  if ('silent' in when) return 'Silent'
  const { field } = when
  if ('is' in when) {
    if (typeof when.is === 'boolean') return `${attributeName(field)} ${when.is ? 'on' : 'off'}`
    return `${attributeName(field)} is ${when.is}`
  }
  const isAbove = 'above' in when
  const value = readingText(field, isAbove ? when.above : when.below, units)
  if (field === 'speed') return `${isAbove ? 'Faster' : 'Slower'} than ${value}`
  if (field === 'temperature') return `${isAbove ? 'Warmer' : 'Colder'} than ${value}`
  return `${fieldName(field)} ${isAbove ? 'above' : 'below'} ${value}`
}

/** Mentioned only if it differs from the threshold. */
function endText(when: RuleWhen, units: Units): string {
  if (!('clear' in when) || when.clear === undefined) return ''
  const [side, limit] = 'above' in when ? ['below', when.above] : ['above', when.below]
  if (when.clear === limit) return ''
  return `, until ${side} ${readingText(when.field, when.clear, units)}`
}
