import type { PositionRecord } from '../../../schemas/read-models.ts'
import type { JsonSchema } from '../../http/admin-route.ts'

/** A file format that a device's records can be had in. */
export type ExportFormat = {
  /** As it stands in Content-Type. */
  readonly mediaType: string
  /** The end of the file's name. */
  readonly extension: string
  /** What such a file holds. */
  readonly schema: JsonSchema
  /** The file piece by piece: one before the first page, one for each page, one after the last. */
  write(pages: RecordPages, deviceId: string): AsyncIterable<string>
}

/** A device's records in their order. */
export type RecordPages = AsyncIterable<readonly PositionRecord[]>
