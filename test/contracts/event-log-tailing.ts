import { expect } from '@jest/globals'
import type { PositionReported } from '../../schemas/events/position-reported.ts'
import { eventually } from '../eventually.ts'
import { startTail, sample, samples, SOON, type EventLogSuite } from './event-log-suite.ts'

/** Live readers: everything after a mark, then new events, and nothing is committed. */
export function tailingContract({ promise }: EventLogSuite): void {
  promise(
    'a tail from the end delivers new entries in order, and no earlier ones',
    async ({ log }) => {
      await log.append(samples(3))
      const tail = startTail(log, 'end')
      // The end may be resolved only while the tail is read, so it can lie after the first events.
      const appended: PositionReported[] = []
      await eventually(async () => {
        appended.push(sample())
        await log.append(appended.slice(-1))
        return tail.events().length > 0
      }, SOON)
      await eventually(() => tail.events().at(-1)?.recordId === appended.at(-1)?.recordId, SOON)
      expect(tail.events()).toEqual(appended.slice(-tail.events().length))
      await tail.stop()
    },
  )

  promise(
    'a tail from a mark delivers everything after it, then new entries',
    async ({ consume, log }) => {
      const events = samples(4)
      await log.append(events.slice(0, 3))
      const reader = consume(log)
      await eventually(() => reader.events().length >= 3, SOON)
      const { partition, offset } = reader.entries()[0]!.origin

      const tail = startTail(log, { [partition]: offset })
      await eventually(() => tail.events().length >= 2, SOON)
      await log.append(events.slice(3))
      await eventually(() => tail.events().length >= 3, SOON)
      expect(tail.events()).toEqual(events.slice(1))
      expect(tail.items.every(({ kind }) => kind === 'batch')).toBe(true)
      await tail.stop()
    },
  )

  promise(
    'a tail commits nothing, and ends when it is aborted while it waits',
    async ({ consume, log }) => {
      const events = samples(2)
      await log.append(events)
      const tail = startTail(log, {})
      await eventually(() => tail.events().length >= 2, SOON)
      expect(tail.events()).toEqual(events)
      await tail.stop()
      const reader = consume(log)
      await eventually(() => reader.events().length >= 2, SOON)
      expect(reader.events()).toEqual(events)
    },
  )
}
