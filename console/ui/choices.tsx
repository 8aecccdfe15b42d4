import { theme, THEMES, zoneChoice, type Theme } from './preferences.ts'
import { SelectField } from './select-field.tsx'

const WORDS: Readonly<Record<Theme, string>> = {
  system: 'As the system',
  light: 'Light',
  dark: 'Dark',
}

export function ThemeChoice() {
  return (
    <SelectField
      name="theme"
      label="Theme"
      options={THEMES.map((one) => [one, WORDS[one]])}
      value={theme.value}
      onChange={(next) => (theme.value = next as Theme)}
    />
  )
}

export function ZoneChoice() {
  const local = Intl.DateTimeFormat().resolvedOptions().timeZone
  const names = Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC')
  return (
    <SelectField
      name="zone"
      label="Time zone"
      options={[
        ['local', `Of this device (${local})`],
        ['UTC', 'UTC'],
        ...names.map((name) => [name, name.replaceAll('_', ' ')] as const),
      ]}
      value={zoneChoice.value}
      onChange={(next) => (zoneChoice.value = next)}
    />
  )
}
