import { expect } from '@jest/globals'
import { eventually } from '../eventually.ts'
import { deviceErased, positionReported } from '../samples.ts'
import { aGroup, samples, SOON, NOW, type EventLogSuite } from './event-log-suite.ts'

/** The figures of a log: its extent, the progress of a group. */
export function figuresContract({ promise }: EventLogSuite): void {
  promise('an event is known by its id at its offset; others have none', async (given) => {
    const { consume, log, opened } = given
    expect(await log.eventIdsAt({ 0: 0 })).toEqual(new Map())
    const [first, second] = samples(2)
    const erasure = deviceErased()
    await log.append([first!, second!])
    await log.erase(erasure)
    await opened.putRaw(Buffer.from('rubbish'), 'acc-1/tracker-1')
    const reader = consume(log)
    await eventually(() => reader.entries().length >= 4, SOON)
    const ids = [first!.recordId, second!.recordId, erasure.eventId, undefined]
    for (const [index, { origin }] of reader.entries().entries()) {
      const found = await log.eventIdsAt({ [origin.partition]: origin.offset })
      expect(found.get(origin.partition)).toBe(ids[index])
    }
    const { partition, offset } = reader.entries()[3]!.origin
    expect(await log.eventIdsAt({ [partition]: offset + 1, 999: 0 })).toEqual(new Map())
  })

  promise(
    'lag is the number of a group’s unprocessed events, and the age of the oldest',
    async (given) => {
      const { consume, log, progressOf } = given
      const group = aGroup()
      expect(await log.lag(group)).toEqual({ events: 0, seconds: 0 })
      await log.append([
        positionReported({ receivedAt: NOW - 90_000 }),
        positionReported({ receivedAt: NOW - 30_000 }),
      ])
      expect(await log.lag(group)).toEqual({ events: 2, seconds: 90 })
      const reader = consume(log, { group })
      await eventually(() => reader.events().length >= 2, SOON)
      const lag = () => log.lag(group, progressOf(reader).resumeAfter)
      await eventually(async () => (await lag()).events === 0, SOON)
      expect(await lag()).toEqual({ events: 0, seconds: 0 })
    },
  )

  promise('the log returns the offsets before a time', async ({ consume, log }) => {
    const hour = 3_600_000
    const times = [0, 1, 2, 3].map((hours) => NOW - 5 * hour + hours * hour)
    await log.append(times.map((receivedAt) => positionReported({ receivedAt })))
    const reader = consume(log)
    await eventually(() => reader.events().length >= 4, SOON)
    const { partition } = reader.entries()[0]!.origin
    const offsets = reader.entries().map(({ origin }) => origin.offset)
    for (const [at, time] of times.entries()) {
      const before = (await log.placeBefore(time))[partition]
      expect(before ?? offsets[0]! - 1).toBe(offsets[at]! - 1)
    }
    expect((await log.placeBefore(NOW))[partition]).toBe(offsets.at(-1))
  })

  promise('the log returns its extent', async ({ consume, log }) => {
    const empty = await log.extent()
    expect(empty.length).toBeGreaterThan(0)
    expect(empty.every(({ first, next, whole }) => first === next && whole)).toBe(true)

    await log.append(samples(3))
    const reader = consume(log)
    await eventually(() => reader.events().length >= 3, SOON)
    const origins = reader.entries().map(({ origin }) => origin)
    const { partition } = origins[0]!
    const held = (await log.extent()).find((one) => one.partition === partition)
    expect(held).toEqual({
      partition,
      first: origins[0]!.offset,
      next: origins[2]!.offset + 1,
      whole: true,
    })
  })
}
