import {
  MEASUREMENTS,
  type Measurement,
  type Measurements,
  type MeasurementValues,
} from '../../schemas/report-fields.ts'

/** The columns of the measurements, in their order, for a table's definition. */
export const MEASUREMENT_COLUMNS = MEASUREMENTS.map((name) => `${name} REAL`).join(', ')

/** The measurements of a row, from its column `first` on in their order; null where there is none. */
export function measurementsIn(
  row: readonly [...unknown[], ...MeasurementValues],
  first: number,
): Measurements {
  const measurements: { [Name in Measurement]?: number } = {}
  let column = first
  for (const name of MEASUREMENTS) {
    const value = row[column] as number | null
    if (value !== null) measurements[name] = value
    column += 1
  }
  return measurements
}
