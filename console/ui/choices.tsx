import { useId } from 'preact/hooks'
import { theme, zoneChoice, type Theme } from './preferences.ts'

const THEMES: readonly (readonly [Theme, string])[] = [
  ['system', 'As the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
]

export function ThemeChoice() {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>Theme</label>
      <select
        id={id}
        value={theme.value}
        onChange={({ currentTarget }) => (theme.value = currentTarget.value as Theme)}
      >
        {THEMES.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
    </div>
  )
}

export function ZoneChoice() {
  const id = useId()
  const local = Intl.DateTimeFormat().resolvedOptions().timeZone
  return (
    <div class="field">
      <label for={id}>Time zone</label>
      <select
        id={id}
        value={zoneChoice.value}
        onChange={({ currentTarget }) => (zoneChoice.value = currentTarget.value)}
      >
        <option value="local">Of this device ({local})</option>
        <option value="UTC">UTC</option>
        {Intl.supportedValuesOf('timeZone')
          .filter((name) => name !== 'UTC')
          .map((name) => (
            <option key={name} value={name}>
              {name.replaceAll('_', ' ')}
            </option>
          ))}
      </select>
    </div>
  )
}
