import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { eventReader, type StreamEvent } from '../../../console/live/read-events.ts'

const TEXT =
  'retry: 2000\n\n: comment\n\nevent: position\nid: 1-a\ndata: {"a":1}\n\n' +
  'data: first\r\ndata:second\r\n\r\nevent: heartbeat\nid: 2\ndata: {}\n\nevent: nothing\n\ndata: cut o'
const EVENTS = [
  { name: 'position', data: '{"a":1}', id: '1-a' },
  { name: 'message', data: 'first\nsecond', id: '1-a' },
  { name: 'heartbeat', data: '{}', id: '2' },
]

test('the text of a stream gives the same events in pieces of any size', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: TEXT.length })), (cuts) => {
      const told: StreamEvent[] = []
      const read = eventReader()
      const places = [0, ...cuts.sort((a, b) => a - b), TEXT.length]
      for (const [index, from] of places.entries()) {
        told.push(...read(TEXT.slice(from, places[index + 1])))
      }
      expect(told).toEqual(EVENTS)
    }),
  )
})
