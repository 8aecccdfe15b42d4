import { effect, signal } from '@preact/signals'

/** What an operator has chosen in this browser, the same in all its tabs. */
export type Theme = 'system' | 'light' | 'dark'

export const theme = kept<Theme>('theme', 'system', (text) =>
  text === 'light' || text === 'dark' ? text : 'system',
)

/** `local`, `UTC` or a name such as `Europe/Vienna`. */
export const zoneChoice = kept('zone', 'local', (text) => (isZone(text) ? text : 'local'))

/** The IANA name of the time zone in which times are shown. */
export function shownZone(): string {
  const { value } = zoneChoice
  return value === 'local' ? Intl.DateTimeFormat().resolvedOptions().timeZone : value
}

export function applyTheme(): void {
  effect(() => {
    document.documentElement.dataset['theme'] = theme.value
  })
}

/** A signal that outlives the page. Browsers may refuse to keep anything: then it lasts as long. */
export function kept<T extends string>(name: string, standard: T, read: (text: string) => T) {
  const key = `gps-console.${name}`
  const load = () => {
    try {
      const text = localStorage.getItem(key)
      return text === null ? standard : read(text)
    } catch {
      return standard
    }
  }
  const value = signal<T>(load())
  effect(() => {
    try {
      localStorage.setItem(key, value.value)
    } catch {
      // Nothing is kept then.
    }
  })
  addEventListener('storage', (event) => {
    if (event.key === key) value.value = load()
  })
  return value
}

function isZone(name: string): boolean {
  if (name === 'local') return true
  try {
    return Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
