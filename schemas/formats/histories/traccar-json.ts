import { readTraccarForward } from '../senders/traccar-forward.ts'
import { objectIn } from '../values.ts'
import type { Format, FileItem } from './format.ts'
import { jsonElements } from './json-elements.ts'
import { readAsApp } from './read-as-app.ts'

/** A list of positions of Traccar's API (`GET /api/positions?deviceId=&from=&to=`). */
export const traccarJson: Format = {
  name: 'traccar-json',
  title: 'positions of Traccar (JSON)',
  places: 'element',
  each: { text: '"fixTime"', what: 'positions' },
  numbersDevices: true,
  recognises: (head) =>
    /^\[\s*\{/.test(head) && /"fixTime"\s*:/.test(head) && /"deviceId"\s*:/.test(head),

  async *read(text) {
    for await (const elements of jsonElements(text, ['$.*'])) {
      yield elements.flatMap(({ number, value }) => traccarPosition(objectIn(value) ?? {}, number))
    }
  },
}

/** A position, read as Traccar itself would forward it, under the internal number of its device. */
export function traccarPosition(
  position: Readonly<Record<string, unknown>>,
  place: number,
): FileItem[] {
  const forwarded = { position, device: { uniqueId: position['deviceId'] } }
  return readAsApp(({ body }) => readTraccarForward(body), JSON.stringify(forwarded), { place })
}
