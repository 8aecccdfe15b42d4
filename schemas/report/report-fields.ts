/** A number of a report. */
export type NumberField = {
  readonly name: string
  /** The minimum and maximum value, both inclusive. */
  readonly range: readonly [least: number, greatest: number]
  /** The value to send, for messages. */
  readonly expected: string
  /** An addition to the message about a value out of range. */
  readonly advice?: string
  /** Description with the unit, for documentation. */
  readonly meaning: string
}

// The only list of a report's fields besides its device and time. Rules and messages, events,
// record ids, stores, exports and documents are derived from these tables.

const OMIT_UNKNOWN = '; leave the field out when it is unknown'

export const COORDINATE_FIELDS = [
  {
    name: 'latitude',
    range: [-90, 90],
    expected: 'a number from -90 to 90 (WGS84 degrees)',
    meaning: 'WGS84 degrees',
  },
  {
    name: 'longitude',
    range: [-180, 180],
    expected: 'a number from -180 to 180 (WGS84 degrees)',
    meaning: 'WGS84 degrees',
  },
] as const satisfies readonly NumberField[]

/** The measurements a report may omit. */
export const MEASUREMENT_FIELDS = [
  {
    name: 'accuracy',
    range: [0, Number.MAX_VALUE],
    expected: 'a number of metres, 0 or more',
    meaning: 'Metres',
  },
  {
    name: 'altitude',
    range: [-12_000, 100_000],
    expected: 'a number of metres from -12000 to 100000',
    meaning: 'Metres',
  },
  {
    name: 'speed',
    range: [0, Number.MAX_VALUE],
    expected: 'a number of metres per second, 0 or more',
    // iOS sends -1 if the value is unknown.
    advice: OMIT_UNKNOWN,
    meaning: 'Metres per second',
  },
  {
    name: 'heading',
    range: [0, 360],
    expected: 'a number of degrees from 0 to 360',
    advice: OMIT_UNKNOWN,
    meaning: 'Degrees clockwise from north',
  },
  {
    name: 'battery',
    range: [0, 1],
    expected: 'a fraction from 0 to 1',
    meaning: 'A fraction from 0 to 1',
  },
] as const satisfies readonly NumberField[]

export type Coordinate = (typeof COORDINATE_FIELDS)[number]['name']
export type Measurement = (typeof MEASUREMENT_FIELDS)[number]['name']
export type Measurements = { readonly [Name in Measurement]?: number }

/** The values of all measurements in the order of the table; null if not reported. */
export type MeasurementValues = ValueOfEach<typeof MEASUREMENT_FIELDS>
type ValueOfEach<Fields> = { readonly [Place in keyof Fields]: number | null }

export const MEASUREMENTS: readonly Measurement[] = MEASUREMENT_FIELDS.map(({ name }) => name)

export const RANGES = Object.fromEntries(
  [...COORDINATE_FIELDS, ...MEASUREMENT_FIELDS].map(({ name, range }) => [name, range]),
) as { readonly [Name in Coordinate | Measurement]: NumberField['range'] }

export function measurementValues(from: Measurements): MeasurementValues {
  const values: (number | null)[] = []
  for (const name of MEASUREMENTS) values.push(from[name] ?? null)
  return values as unknown as MeasurementValues
}

/**
 * Other data of a device, by name; the names are sorted, so that equal attributes have equal JSON.
 */
export type Attributes = Readonly<Record<string, AttributeValue>>
export type AttributeValue = string | number | boolean

/** The fields that an event may have. */
export type OptionalFields = Measurements & {
  readonly attributes?: Attributes
  /** It was recorded earlier by another system, and imported as history. */
  readonly imported?: true
}

/** The state of a device, apart from its position. */
export type Telemetry = Pick<OptionalFields, 'battery' | 'attributes'>

export const OPTIONAL_FIELDS = [...MEASUREMENTS, 'attributes', 'imported'] as const

/** Adds the optional fields present to an object, in half the time of a spread. */
export function addOptionalFields<To extends object>(
  to: To,
  from: OptionalFields,
): To & OptionalFields {
  const fields: { -readonly [Name in keyof OptionalFields]: OptionalFields[Name] } = to
  for (const name of MEASUREMENTS) {
    const value = from[name]
    if (value !== undefined) fields[name] = value
  }
  if (from.attributes !== undefined) fields.attributes = from.attributes
  if (from.imported !== undefined) fields.imported = from.imported
  return to
}

/** Returns a function that writes each measurement present after a prefix with its name. */
export function measurementsWriter(prefix: (name: Measurement) => string) {
  const fields = MEASUREMENTS.map((name) => [name, prefix(name)] as const)
  return (from: Measurements): string => {
    let text = ''
    for (const [name, before] of fields) {
      const value = from[name]
      if (value !== undefined) text += before + value
    }
    return text
  }
}
