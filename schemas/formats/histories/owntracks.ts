import { parseObject } from '../values.ts'
import { fieldItems, owntracksItems } from './field-items.ts'
import {
  type Format,
  type FileItem,
  firstLines,
  LINES,
  linesOf,
  type Line,
  textWithHead,
} from './format.ts'
import { jsonElements } from './json-elements.ts'

/** The time of receipt, the rest of the topic, and the JSON published by the app. */
const LINE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\s+\S.*?\s(\{.*)$/

/**
 * The files of the OwnTracks Recorder (https://github.com/owntracks/recorder/blob/master/doc/STORE.md),
 * one for each device and month: `rec/USER/DEVICE/2024-03.rec`.
 */
export const owntracksRec: Format = {
  name: 'owntracks-rec',
  title: 'OwnTracks Recorder (.rec)',
  places: 'line',
  each: LINES,
  recognises: (head) => /^[^[{<]/.test(head) && firstLines(head).some((line) => LINE.test(line)),

  async *read(text, { path }) {
    const deviceId = deviceOfPath(path)
    for await (const lines of linesOf(text)) yield lines.flatMap((line) => readLine(line, deviceId))
  },
}

function readLine({ number: place, text }: Line, deviceId: string | undefined): FileItem[] {
  const json = LINE.exec(text)?.[1]
  if (json !== undefined) return owntracksItems(json, { place, deviceId })
  const message = 'the line must be a time, a topic and a JSON object'
  return [{ kind: 'broken', place, message }]
}

/** `user/device`, as in the topic, from the path of a file where the Recorder stores it. */
function deviceOfPath(path: string | undefined): string | undefined {
  if (path === undefined) return undefined
  const [folder, user, device] = path.split('/').slice(-4)
  return folder === 'rec' ? `${user}/${device}` : undefined
}

/**
 * The Recorder's exports: `{"count":…,"locations":[…]}` from its ocat, `{"count":…,"data":[…]}`
 * from its API, and lists of messages.
 */
export const owntracksJson: Format = {
  name: 'owntracks-json',
  title: 'OwnTracks Recorder (ocat, JSON)',
  places: 'element',
  each: { text: '"tst"', what: 'locations' },
  recognises: (head) =>
    /^(?:\[\s*\{|\{\s*"(?:count|locations|data|status|version)"\s*:)/.test(head) &&
    /"tst"\s*:/.test(head) &&
    !/"Feature"/.test(head),

  async *read(text) {
    const { head, whole } = await textWithHead(text, (begin) => begin.trim() !== '')
    const paths = head.trimStart().startsWith('[') ? ['$.*'] : ['$.locations.*', '$.data.*']
    for await (const elements of jsonElements(whole, paths)) {
      yield elements.flatMap(({ number, value }) => {
        const fields = parseObject(value)
        if (fields !== undefined) return fieldItems({ _type: 'location', ...fields }, number)
        return [{ kind: 'broken', place: number, message: 'a location must be an object' } as const]
      })
    }
  },
}
