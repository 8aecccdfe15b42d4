import { effect, signal } from '@preact/signals'

/** The operator's settings in this browser, shared by all its tabs. */
export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

export const theme = kept<Theme>(
  'theme',
  'system',
  (text) => THEMES.find((one) => one === text) ?? 'system',
)

/** `local`, `UTC` or a name such as `Europe/Vienna`. */
export const zoneChoice = kept('zone', 'local', (text) => (isZone(text) ? text : 'local'))

/** The IANA name of the time zone in which times are shown. */
export function shownZone(): string {
  const { value } = zoneChoice
  return value === 'local' ? Intl.DateTimeFormat().resolvedOptions().timeZone : value
}

/**
 * A signal whose value outlives the page. If the browser refuses to store it, it lasts as long as
 * the page.
 */
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
      // Then nothing is stored.
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
