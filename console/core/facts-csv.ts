import { csvLines } from './csv-lines.ts'
import { FACT_WORDS, type ApiFact } from './device-facts.ts'
import { convertSpeed, type Units } from './measures.ts'
import { readingText } from './readings.ts'
import type { ApiRule } from './rule-words.ts'
import { date, duration, time } from './times.ts'

/** Events as a CSV file for people: with names, the reader's zone and units. */
export function factsCsv(
  facts: readonly ApiFact[],
  {
    nameOf,
    rules,
    zone,
    units,
  }: {
    readonly nameOf: (fact: ApiFact) => string
    /** The rules, which tell the unit of a value. */
    readonly rules: readonly Pick<ApiRule, 'id' | 'when'>[]
    readonly zone: string
    readonly units: Units
  },
): string {
  const whenOf = new Map(rules.map(({ id, when }) => [id, when]))
  const head = [
    `Time (${zone})`,
    'Device',
    'Device id',
    'Event',
    'Geofence, rule or alarm',
    'Value',
    'Lasted',
    `Speed, ${units.speed}`,
    'Latitude',
    'Longitude',
  ]
  const rows = facts.map((fact) => {
    const { at, deviceId, type, geofence, rule, alarm, value, seconds, position } = fact
    const ms = Date.parse(at)
    const when = whenOf.get(rule?.id ?? '')
    const field = when !== undefined && 'field' in when ? when.field : ''
    const speed = position?.speed
    return [
      `${date(ms, zone)} ${time(ms, zone)}`,
      nameOf(fact),
      deviceId,
      FACT_WORDS[type],
      geofence?.name ?? rule?.name ?? alarm,
      value === undefined ? undefined : readingText(field, value, units),
      typeof seconds === 'number' ? duration(seconds * 1_000, units) : undefined,
      typeof speed === 'number'
        ? Math.round(convertSpeed(units.speed, speed) * 10) / 10
        : undefined,
      position?.latitude,
      position?.longitude,
    ]
  })
  return csvLines([head, ...rows])
}
