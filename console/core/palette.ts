/** The tokens of ui/style/tokens.css that canvases use, where CSS does not apply. */
export const TOKENS = {
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
