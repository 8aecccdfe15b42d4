import { Readable } from 'node:stream'
import { openPages } from '../../../runtime/process/read-pages.ts'
import type { PositionRecord } from '../../../schemas/devices/read-models.ts'
import type { Store } from '../../../store/store.ts'
import type { AdminContext } from '../../http/admin-route.ts'
import { recordView } from '../../http/views.ts'
import { csv } from './csv.ts'
import type { ExportedDevice, ExportFormat } from './export-format.ts'
import { gapAfterMs, READ_AT_ONCE } from '../track/read-track.ts'
import { geoJson } from './geo-json.ts'
import { gpx } from './gpx.ts'

export const EXPORT_NAMES = ['geojson', 'gpx', 'csv', 'ndjson'] as const

/** Writes one record per line, in the API's usual form plus the device's name and labels. */
export const ndjson: ExportFormat = {
  mediaType: 'application/x-ndjson',
  extension: 'ndjson',
  schema: {
    title: 'RecordLines',
    type: 'string',
    description:
      'A Record as JSON on each line, with the `name` and `labels` of its device where it has them; every line ends with a line feed',
  },

  async *write(pages, { name, labels }) {
    for await (const page of pages) {
      yield page
        .map((record) => `${JSON.stringify({ ...recordView(record), name, labels })}\n`)
        .join('')
    }
  },
}

export const EXPORT_FORMATS: Readonly<Record<(typeof EXPORT_NAMES)[number], ExportFormat>> = {
  geojson: geoJson,
  gpx,
  csv,
  ndjson,
}

/** The records to export. */
export type ExportRange = Omit<Parameters<Store['pagePositions']>[0], 'limit' | 'after'>

/**
 * Records in memory at a time: few enough to read and write in one event-loop turn even if each has
 * all attributes.
 */
const RECORDS_AT_ONCE = 250

/**
 * Streams all records of a range as one file, at the caller's pace: only one page is in memory at a
 * time, and reading ends when the caller disconnects. The first page is read before this returns,
 * so an unavailable store is a 503; a later failure cuts the connection, so that nobody mistakes a
 * partial file for a complete one.
 */
export async function exportPositions(
  ctx: AdminContext,
  {
    store,
    format,
    device,
    range,
  }: {
    store: Pick<Store, 'pagePositions' | 'pageTrack'>
    format: ExportFormat
    device: ExportedDevice
    range: ExportRange
  },
): Promise<void> {
  const pages = await openPages<PositionRecord>(RECORDS_AT_ONCE, (page) =>
    store.pagePositions({ ...range, ...page }),
  )
  ctx.set('Content-Type', format.mediaType)
  attachFile(ctx, { deviceId: range.deviceId, extension: format.extension })
  const gapMs = async () =>
    gapAfterMs(
      await store.pageTrack({ ...range, limit: READ_AT_ONCE }),
      device.expectedIntervalSeconds,
    )
  ctx.body = Readable.from(format.write(pages, device, { gapMs }))
}

/**
 * Makes browsers save the response as a file named after the device (RFC 6266). Invisible
 * characters, and those special to file systems, become `_`.
 */
function attachFile(
  ctx: AdminContext,
  { deviceId, extension }: { readonly deviceId: string; readonly extension: string },
): void {
  const safe = deviceId.replace(/[/\\:*?"<>|%\p{C}\p{Z}]/gu, '_').replace(/^\./, '_')
  const ascii = safe.replace(/[^\x21-\x7e]/gu, '_')
  const name = (stem: string) => `${stem}-positions.${extension}`
  ctx.attachment(name(safe), { fallback: name(ascii) })
}
