import { effect, signal } from '@preact/signals'
import { TOKENS, type Palette } from '../core/palette.ts'
import { theme } from './preferences.ts'

/** The colours of the theme that is shown. */
export const palette = signal(readPalette())

/** Shows the chosen theme, and follows the system's where that is chosen. */
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

/** As the browser resolves them: the tokens themselves hold one colour for each theme. */
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
