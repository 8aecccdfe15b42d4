import { convertSpeed, type Units } from '../core/measures.ts'

/** From stopped to the fastest speed; distinguishable without red and green too. */
export const SPEED_COLOURS = ['#3b4cc0', '#2c8ecb', '#26a884', '#c9a227', '#d1495b'] as const

const ROUND_STEPS = [1, 2, 3, 4, 5, 10, 15, 20, 25, 30, 40, 50, 100, 200, 300]

/** The speed step from colour to colour, in m/s: a round number in the unit. */
export function speedStep(fastest: number, unit: Units['speed']): number {
  const least = convertSpeed(unit, fastest) / SPEED_COLOURS.length
  return (ROUND_STEPS.find((step) => step >= least) ?? Math.ceil(least)) / convertSpeed(unit, 1)
}

export function speedColour(speed: number, step: number): string {
  const index = Math.min(SPEED_COLOURS.length - 1, Math.floor(speed / step))
  return SPEED_COLOURS[index] ?? SPEED_COLOURS[0]
}
