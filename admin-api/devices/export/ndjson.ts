import { recordView } from '../../http/views.ts'
import type { ExportFormat } from './export-format.ts'

/** One record per line, as everywhere in the API. */
export const ndjson: ExportFormat = {
  mediaType: 'application/x-ndjson',
  extension: 'ndjson',
  schema: {
    title: 'RecordLines',
    type: 'string',
    description: 'A Record as JSON on each line; every line ends with a line feed',
  },

  async *write(pages) {
    for await (const page of pages) {
      yield page.map((record) => `${JSON.stringify(recordView(record))}\n`).join('')
    }
  },
}
