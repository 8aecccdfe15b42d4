import { owntracks } from '../../../ingest-api/apps/owntracks.ts'
import type { Format } from './format.ts'
import { LINES, linesOf } from './lines.ts'
import { readAsApp } from './read-as-app.ts'

/** The time of receipt, the rest of the topic, and the JSON that the app has published. */
const LINE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\s+\S.*?\s(\{.*)$/

/**
 * The files of the OwnTracks Recorder (https://github.com/owntracks/recorder/blob/master/doc/STORE.md),
 * one for each device and month.
 */
export const owntracksRec: Format = {
  name: 'owntracks-rec',
  title: 'OwnTracks Recorder (.rec)',
  places: 'line',
  each: LINES,
  recognises: (head) => LINE.test(head.split('\n', 1)[0] ?? ''),

  async *read(text) {
    for await (const lines of linesOf(text)) {
      yield lines.flatMap(({ number, text: line }) => {
        const json = LINE.exec(line)?.[1]
        if (json !== undefined) return readAsApp(owntracks, json, { place: number })
        const message = 'the line must be a time, a topic and a JSON object'
        return [{ kind: 'broken', place: number, message } as const]
      })
    }
  },
}
