import type { DeviceSettings, PositionRecord } from '../../../schemas/devices/read-models.ts'
import type { JsonSchema } from '../../http/admin-route.ts'

/** A file format for exporting a device's records. */
export type ExportFormat = {
  /** The value of Content-Type. */
  readonly mediaType: string
  /** The file name extension. */
  readonly extension: string
  /** The file's schema. */
  readonly schema: JsonSchema
  /** The file in chunks: one before the first page, one per page, one after the last. */
  write(pages: RecordPages, device: ExportedDevice, track: ExportedTrack): AsyncIterable<string>
}

/** The queries that a format may make about the track of the range. */
export type ExportedTrack = {
  /** The silence, in milliseconds, that counts as a gap in it. */
  readonly gapMs: () => Promise<number>
}

/** The device of a file, with the name and labels that operators gave it. */
export type ExportedDevice = { readonly deviceId: string } & Pick<
  DeviceSettings,
  'name' | 'labels' | 'expectedIntervalSeconds'
>

/** Labels as one text, for formats without lists. */
export function labelsText({ labels = [] }: ExportedDevice): string {
  return labels.join(', ')
}

/** A device's records in order. */
export type RecordPages = AsyncIterable<readonly PositionRecord[]>
