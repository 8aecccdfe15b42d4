import type { Signal } from '@preact/signals'
import { clockHours, lengthUnit, speedUnit, theme, zoneChoice } from './preferences.ts'
import { SelectField, type Choices } from './select-field.tsx'

/** The fields in which an operator chooses how this browser shows everything. */

const THEMES = { system: 'System', light: 'Light', dark: 'Dark' }
const SPEEDS = { 'km/h': 'km/h', mph: 'mph', knots: 'Knots' }
const LENGTHS = { metres: 'Metres, kilometres', feet: 'Feet, miles' }
const CLOCKS = { '24': '24-hour', '12': '12-hour' }

export const ThemeChoice = choice('theme', 'Theme', theme, THEMES)
export const SpeedChoice = choice('speed', 'Speed unit', speedUnit, SPEEDS)
export const LengthChoice = choice('length', 'Distance unit', lengthUnit, LENGTHS)
export const ClockChoice = choice('clock', 'Clock', clockHours, CLOCKS)

export function ZoneChoice() {
  const local = Intl.DateTimeFormat().resolvedOptions().timeZone
  const names = Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC')
  const options: Choices = [
    ['local', `This device (${local})`],
    ['UTC', 'UTC'],
    ...names.map((name) => [name, name.replaceAll('_', ' ')] as const),
  ]
  return <Chosen name="zone" label="Time zone" of={zoneChoice} options={options} />
}

function choice<T extends string>(
  name: string,
  label: string,
  of: Signal<T>,
  words: Readonly<Record<T, string>>,
) {
  const options = Object.entries<string>(words)
  return () => <Chosen name={name} label={label} of={of} options={options} />
}

function Chosen<T extends string>({
  of,
  ...field
}: {
  name: string
  label: string
  of: Signal<T>
  options: Choices
}) {
  return <SelectField {...field} value={of.value} onChange={(next) => (of.value = next as T)} />
}
