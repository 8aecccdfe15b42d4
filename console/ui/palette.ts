import { effect, signal } from '@preact/signals'
import { TOKENS, type Palette } from '../core/palette.ts'
import { theme } from './preferences.ts'

/** The colours of the current theme. */
export const palette = signal(readPalette())

/** Applies the selected theme, or follows the system's if that is selected. */
export function applyTheme(): void {
  const read = () => (palette.value = readPalette())
  effect(() => {
    document.documentElement.dataset['theme'] = theme.value
    read()
  })
  // Paper is white.
  addEventListener('beforeprint', () => {
    document.documentElement.dataset['theme'] = 'light'
    read()
  })
  addEventListener('afterprint', () => {
    document.documentElement.dataset['theme'] = theme.value
    read()
  })
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', read)
}

/** As resolved by the browser: the tokens themselves hold one colour for each theme. */
function readPalette(): Palette {
  const probe = document.createElement('span')
  document.documentElement.append(probe)
  const colours = Object.entries(TOKENS).map(([name, token]) => {
    probe.style.color = `var(${token})`
    return [name, getComputedStyle(probe).color]
  })
  probe.remove()
  return Object.fromEntries(colours) as Palette
}
