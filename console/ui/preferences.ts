import { effect, signal } from '@preact/signals'
import { LENGTH_UNITS, SPEED_UNITS } from '../core/measures.ts'
import { CLOCKS, type HourClock } from '../core/date-words.ts'
import { isZone } from '../core/times.ts'

/** The operator's settings in this browser, shared by all its tabs. */

export const theme = createChoice('theme', ['system', 'light', 'dark'])
export const speedUnit = createChoice('speed', SPEED_UNITS)
export const lengthUnit = createChoice('length', LENGTH_UNITS)
export const sosSound = createChoice('sos-sound', ['off', 'on'])
export const clockHours = createChoice('clock', CLOCKS, localeClock())

/** `local`, `UTC` or a name such as `Europe/Vienna`. */
export const zoneChoice = createPreference('zone', 'local', (text) =>
  isZone(text) ? text : 'local',
)

/** Read once: each row of a list calls for it, and asking the browser takes long. */
export const localZone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** The IANA name of the time zone in which times are shown. */
export function readerZone(): string {
  const { value } = zoneChoice
  return value === 'local' ? localZone : value
}

/**
 * A signal whose value outlives the page. If the browser refuses to store it, it lasts as long as
 * the page.
 */
export function createPreference<T extends string>(
  name: string,
  standard: T,
  read: (text: string) => T,
) {
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

/** Stores a choice among a few texts. */
function createChoice<const T extends string>(
  name: string,
  choices: readonly [T, ...T[]],
  standard = choices[0],
) {
  return createPreference<T>(
    name,
    standard,
    (text) => choices.find((one) => one === text) ?? standard,
  )
}

/** The clock of the browser's language. */
function localeClock(): HourClock {
  const { hour12 } = new Intl.DateTimeFormat(undefined, { hour: 'numeric' }).resolvedOptions()
  return hour12 === true ? '12' : '24'
}
