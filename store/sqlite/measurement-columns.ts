import { MEASUREMENTS } from '../../schemas/position-reported.ts'

type Measured = { [name in (typeof MEASUREMENTS)[number]]?: number }

/** A row's columns for the measurements, in their order. */
export type MeasurementColumns = readonly [
  accuracy: number | null,
  altitude: number | null,
  speed: number | null,
  heading: number | null,
  battery: number | null,
]

/** The measurements of a row, from its column `first` on in their order; null where there is none. */
export function measurementsOf(row: readonly unknown[], first: number): Readonly<Measured> {
  const measurements: Measured = {}
  let column = first
  for (const name of MEASUREMENTS) {
    const value = row[column] as number | null
    if (value !== null) measurements[name] = value
    column += 1
  }
  return measurements
}
