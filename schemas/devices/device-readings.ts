import type { Telemetry } from '../report/report-fields.ts'

type Origin = { readonly partition: number; readonly offset: number }
type LastPosition = {
  readonly recordId: string
  readonly receivedAt: number
  readonly imported?: true
}

/** Battery and attributes from one event. */
export type Reading = Telemetry & {
  readonly offset: number
  readonly receivedAt: number
  readonly eventId: string
}

/** The newest readings from each partition, excluding those of the last position. */
export type Readings = {
  /** Readings from heartbeats. */
  readonly heartbeats?: Readonly<Record<number, Reading>>
  /** Readings from repeats of the last position; `eventId` is its record's id. */
  readonly repeats?: Readonly<Record<number, Reading>>
}

export type ReadingKind = keyof Readings
export const READING_KINDS = ['heartbeats', 'repeats'] as const satisfies readonly ReadingKind[]

/** The telemetry of a device if it is newer than its last position. */
export type NewerTelemetry = Telemetry & { readonly receivedAt: number }

/**
 * Finds the newest battery and attributes, as one unit, by receivedAt, then id; undefined if the
 * last position has them. An imported position comes from another system, so it never replaces
 * them.
 */
export function telemetryOf({
  lastPosition,
  readings,
}: {
  readonly lastPosition: LastPosition
  readonly readings?: Readings
}): NewerTelemetry | undefined {
  if (readings === undefined) return undefined
  const { receivedAt, recordId: eventId, imported } = lastPosition
  let newest: Reading | undefined
  for (const kind of READING_KINDS) {
    for (const reading of Object.values(readings[kind] ?? {})) {
      if (isNewer(reading, newest)) newest = reading
    }
  }
  if (newest === undefined) return undefined
  return imported === true || isNewer(newest, { receivedAt, eventId })
    ? toTelemetry(newest)
    : undefined
}

/**
 * The readings with one more; `previous` itself if the new one has neither battery nor attributes,
 * or is not the newest.
 */
export function addReading(
  previous: Readings | undefined,
  kind: ReadingKind,
  { partition, offset }: Origin,
  { receivedAt, eventId, battery, attributes }: Omit<Reading, 'offset'>,
): Readings | undefined {
  if (battery === undefined && attributes === undefined) return previous
  if (!isNewer({ receivedAt, eventId }, previous?.[kind]?.[partition])) return previous
  const reading: Reading = {
    offset,
    receivedAt,
    eventId,
    ...(battery !== undefined && { battery }),
    ...(attributes !== undefined && { attributes }),
  }
  return { ...previous, [kind]: { ...previous?.[kind], [partition]: reading } }
}

/** The readings that count beside this last position, except those that `isGone` selects. */
export function foldReadings(
  { recordId }: Pick<LastPosition, 'recordId'>,
  readings: Readings | undefined,
  isGone: (reading: { origin: Origin; receivedAt: number }) => boolean = () => false,
): Readings | undefined {
  if (readings === undefined) return undefined
  const kept: Record<string, Readings[ReadingKind]> = {}
  for (const kind of READING_KINDS) {
    const some = Object.entries(readings[kind] ?? {}).filter(
      ([partition, { offset, receivedAt, eventId }]) =>
        (kind === 'heartbeats' || eventId === recordId) &&
        !isGone({ origin: { partition: Number(partition), offset }, receivedAt }),
    )
    if (some.length > 0) kept[kind] = Object.fromEntries(some)
  }
  return Object.keys(kept).length === 0 ? undefined : kept
}

type Received = Pick<Reading, 'receivedAt' | 'eventId'>

function isNewer(a: Received, b: Received | undefined): boolean {
  if (b === undefined) return true
  return a.receivedAt === b.receivedAt ? a.eventId > b.eventId : a.receivedAt > b.receivedAt
}

function toTelemetry({ receivedAt, battery, attributes }: Reading): NewerTelemetry {
  return {
    receivedAt,
    ...(battery !== undefined && { battery }),
    ...(attributes !== undefined && { attributes }),
  }
}
