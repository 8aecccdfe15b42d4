import { objectIn } from '../values.ts'
import type { Format } from './format.ts'
import { segmentPoints } from './google-timeline.ts'
import { jsonElements } from './json-elements.ts'

/** The Timeline as iOS exports it: a list of segments. */
export const googleIos: Format = {
  name: 'google-ios',
  title: 'Google Timeline from iOS (location-history.json)',
  places: 'element',
  each: { text: '"startTime"', what: 'segments' },
  recognises: (head) =>
    /^\[\s*\{/.test(head) &&
    /"startTime"\s*:/.test(head) &&
    /"(?:timelinePath|visit|activity|timelineMemory)"\s*:/.test(head),

  async *read(text) {
    for await (const elements of jsonElements(text, ['$.*'])) {
      yield elements.flatMap(({ number, value }) => segmentPoints(objectIn(value) ?? {}, number))
    }
  },
}
