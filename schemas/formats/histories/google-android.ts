import { objectIn } from '../values.ts'
import type { Format, FileItem } from './format.ts'
import { segmentPoints, signalDetails, timelinePoint } from './google-timeline.ts'
import { jsonElements, type Element } from './json-elements.ts'

/** The Timeline as Android exports it: `{"semanticSegments":[…],"rawSignals":[…], …}`. */
export const googleAndroid: Format = {
  name: 'google-android',
  title: 'Google Timeline from Android (Timeline.json)',
  places: 'element',
  each: { text: '"startTime"', what: 'segments' },
  recognises: (head) => /^\{\s*"(?:semanticSegments|rawSignals|userLocationProfile)"/.test(head),

  async *read(text) {
    for await (const elements of jsonElements(text, ['$.semanticSegments.*', '$.rawSignals.*'])) {
      yield elements.flatMap(itemsOf)
    }
  },
}

function itemsOf({ number: place, value }: Element): FileItem[] {
  const element = objectIn(value) ?? {}
  const position = objectIn(element['position'])
  if (position !== undefined) {
    const { LatLng: at, timestamp: sentTime } = position
    return [timelinePoint(place, { at, sentTime, ...signalDetails(position) })]
  }
  if (element['startTime'] !== undefined) return segmentPoints(element, place)
  const [type = 'empty elements'] = Object.keys(element)
  return [{ kind: 'other', place, what: type }]
}
