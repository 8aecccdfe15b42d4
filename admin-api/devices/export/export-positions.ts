import { Readable } from 'node:stream'
import { endOfTurn } from '../../../runtime/end-of-turn.ts'
import type { PositionRecord } from '../../../schemas/read-models.ts'
import type { Store } from '../../../store/store.ts'
import type { AdminContext } from '../../http/admin-route.ts'
import { csv } from './csv.ts'
import type { ExportFormat, RecordPages } from './export-format.ts'
import { attachFile } from './file-name.ts'
import { geoJson } from './geo-json.ts'
import { gpx } from './gpx.ts'
import { ndjson } from './ndjson.ts'

export const EXPORT_FORMATS = { geojson: geoJson, gpx, csv, ndjson } as const
export type ExportName = keyof typeof EXPORT_FORMATS

/** The records to export. */
export type ExportRange = Omit<Parameters<Store['pagePositions']>[0], 'limit' | 'after'>

/** What of the range is held in memory at a time. */
const READ_AT_ONCE = 1_000

/**
 * Answers all records of a range as one file, as fast as the caller takes it: only a page of them is
 * in memory at a time, and reading ends when the caller goes away. The first page is read before
 * this returns, so that a store that is away is a 503; one that fails later cuts the connection, so
 * that nobody takes the beginning for the whole.
 */
export async function exportPositions(
  ctx: AdminContext,
  {
    store,
    format,
    range,
    whenEmpty,
  }: {
    store: Pick<Store, 'pagePositions'>
    format: ExportFormat
    range: ExportRange
    /** May refuse where there is no record in the range. */
    whenEmpty: () => Promise<unknown>
  },
): Promise<void> {
  const read = (after?: PositionRecord) =>
    store.pagePositions({
      ...range,
      limit: READ_AT_ONCE,
      ...(after !== undefined && {
        after: { timestamp: after.timestamp, recordId: after.recordId },
      }),
    })
  const first = await read()
  if (first.length === 0) await whenEmpty()
  ctx.set('Content-Type', format.mediaType)
  attachFile(ctx, { deviceId: range.deviceId, extension: format.extension })
  ctx.body = Readable.from(format.write(pages(first, read), range.deviceId))
}

async function* pages(
  first: readonly PositionRecord[],
  read: (after: PositionRecord) => Promise<readonly PositionRecord[]>,
): RecordPages {
  for (let page = first; ;) {
    const last = page.at(-1)
    if (last === undefined) return
    yield page
    if (page.length < READ_AT_ONCE) return
    // A caller that takes everything at once would otherwise keep all others waiting to the end.
    await endOfTurn()
    page = await read(last)
  }
}
