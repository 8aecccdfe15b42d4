import { recordView } from '../../http/views.ts'
import type { ExportFormat } from './export-format.ts'

/** One record per line, as everywhere in the API, with the name and labels of its device. */
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
