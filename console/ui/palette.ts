import { effect, signal } from '@preact/signals'
import { theme } from './preferences.ts'

/** The tokens of style/tokens.css that canvases paint with, where CSS does not apply. */
const TOKENS = {
  water: '--map-water',
  land: '--map-land',
  border: '--map-border',
  river: '--map-river',
  green: '--map-green',
  built: '--map-built',
  building: '--map-building',
  highway: '--map-highway',
  road: '--map-road',
  street: '--map-street',
  casing: '--map-casing',
  rail: '--map-rail',
  waterLabel: '--map-water-label',
  label: '--map-label',
  strongLabel: '--map-strong-label',
  halo: '--map-halo',
  surface: '--raised',
  text: '--text',
  accent: '--accent',
  line: '--line-strong',
  online: '--online',
  idle: '--idle',
  offline: '--offline',
  disabled: '--disabled',
} as const

export type Palette = Readonly<Record<keyof typeof TOKENS, string>>

/** The colours of the theme that is shown. */
export const palette = signal(readPalette())

/** Shows the chosen theme, and follows the system's where that is chosen. */
export function applyTheme(): void {
  const read = () => (palette.value = readPalette())
  effect(() => {
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
