import { computed, signal } from '@preact/signals'
import { theme } from './preferences.ts'
import type { ShownStatus } from '../core/live-device.ts'

/** Colours for painting on a canvas, where CSS does not apply; the same as in ui/style/tokens.css. */
export type Palette = {
  readonly water: string
  readonly land: string
  readonly border: string
  readonly river: string
  readonly road: string
  readonly street: string
  readonly label: string
  readonly strongLabel: string
  readonly halo: string
  readonly surface: string
  readonly text: string
  readonly accent: string
  readonly line: string
  readonly status: Readonly<Record<ShownStatus, string>>
}

const LIGHT: Palette = {
  water: '#cddde6',
  land: '#f4f2ec',
  border: '#b7aa9c',
  river: '#b5cedb',
  road: '#dcc9a6',
  street: '#dcdad4',
  label: '#5b6670',
  strongLabel: '#3f4a53',
  halo: 'rgba(244, 242, 236, 0.85)',
  surface: '#ffffff',
  text: '#182026',
  accent: '#0b6672',
  line: '#87939d',
  status: { online: '#17803f', idle: '#a86a00', offline: '#5d6a75', disabled: '#8c3d7f' },
}

const DARK: Palette = {
  water: '#0d151b',
  land: '#1c242a',
  border: '#46525b',
  river: '#22343f',
  road: '#4a4438',
  street: '#2e373e',
  label: '#95a2ac',
  strongLabel: '#b7c2ca',
  halo: 'rgba(22, 29, 34, 0.85)',
  surface: '#1f272d',
  text: '#e3e9ed',
  accent: '#5cc3d2',
  line: '#74828d',
  status: { online: '#5fd08c', idle: '#f1bb5e', offline: '#94a2ad', disabled: '#d897cc' },
}

const system = matchMedia('(prefers-color-scheme: dark)')
const systemIsDark = signal(system.matches)
system.addEventListener('change', ({ matches }) => (systemIsDark.value = matches))

export const palette = computed(() => {
  const isDark = theme.value === 'system' ? systemIsDark.value : theme.value === 'dark'
  return isDark ? DARK : LIGHT
})
