import { expect } from '@jest/globals'
import { deviceKey } from '../../schemas/events/position-reported.ts'
import { eventually } from '../eventually.ts'
import { positionReported } from '../samples.ts'
import {
  startTail,
  sample,
  samples,
  recordId,
  entryKey,
  isRising,
  SOON,
  type EventLogSuite,
} from './event-log-suite.ts'

/** The contract of appending: durable, complete, in order, only while the log is open. */
export function appendingContract({ promise }: EventLogSuite): void {
  promise(
    'acknowledged events are present after the log is reopened',
    async ({ consume, log, opened }) => {
      const events = samples(3)
      await log.append(events.slice(0, 2))
      await log.append(events.slice(2))
      await log.close()
      const reader = consume(await opened.reopen())
      await eventually(() => reader.events().length >= 3, SOON)
      expect(reader.events()).toEqual(events)
    },
  )

  promise('every field comes back as it was appended', async ({ consume, log }) => {
    const full = positionReported({
      deviceId: 'Traktor Süd 7 / 🚜 "$x"',
      timestampSource: 'server',
      latitude: -90,
      longitude: 180,
      accuracy: 0.1 + 0.2,
      altitude: -12_000,
      speed: 1e-7,
      heading: 360,
      battery: 0.25,
      attributes: { alarm: 'sos "ü"', constructor: 0.1 + 0.2, ignition: false, 'x.y-z_1': 1e300 },
      imported: true,
    })
    await log.append([full])
    const reader = consume(log)
    await eventually(() => reader.events().length > 0, SOON)
    expect(reader.events()).toEqual([full])
  })

  promise('an event that has waited in a spool is marked', async ({ consume, log, opened }) => {
    const [before, spooled, after] = [sample(), sample(), sample()]
    await Promise.all([
      log.append([before]),
      log.append([spooled], { spooled: true }),
      log.append([after]),
    ])
    const reader = consume(log)
    await eventually(() => reader.entries().length >= 3, SOON)
    const told = reader
      .entries()
      .map((entry) => [recordId(entry), entry.kind === 'position' && entry.spooled])
    expect(told).toEqual([
      [before.recordId, opened.marksAll],
      [spooled.recordId, true],
      [after.recordId, opened.marksAll],
    ])
  })

  promise('appending nothing changes nothing', async ({ log, consume }) => {
    const before = await log.extent()
    await log.append([])
    expect(await log.extent()).toEqual(before)
    const [first] = samples(1)
    await log.append([first!])
    const reader = consume(log)
    await eventually(() => reader.entries().length > 0, SOON)
    expect(reader.events()).toEqual([first])
  })

  promise(
    'events of a device keep their order under 50 concurrent appends',
    async ({ consume, log }) => {
      const appends = Array.from({ length: 50 }, (_, index) =>
        Array.from({ length: 4 }, (_, at) => sample(`tracker-${(index + at) % 5}`)),
      )
      await Promise.all(appends.map((events) => log.append(events)))
      const reader = consume(log)
      await eventually(() => reader.events().length >= 200, SOON)
      for (const device of new Set(appends.flat().map(deviceKey))) {
        const events = appends.flat().filter((event) => deviceKey(event) === device)
        const seen = reader.entries().filter((entry) => entryKey(entry) === device)
        expect(seen.map(recordId)).toEqual(events.map((event) => event.recordId))
        expect(new Set(seen.map(({ origin }) => origin.partition)).size).toBe(1)
        expect(isRising(seen.map(({ origin }) => origin.offset))).toBe(true)
      }
      expect(reader.events()).toHaveLength(200)
    },
  )

  promise(
    'events of a device keep their order, whether they are appended alone or among hundreds',
    async ({ consume, log }) => {
      const appends = [1, 300, 2, 1, 500, 1, 1, 200, 1].map((count, append) =>
        Array.from({ length: count }, (_, at) => sample(`tracker-${(append + at) % 4}`)),
      )
      await Promise.all(appends.map((events) => log.append(events)))
      const sent = appends.flat()
      const reader = consume(log)
      await eventually(() => reader.events().length >= sent.length, SOON)
      for (const device of new Set(sent.map(deviceKey))) {
        const seen = reader.entries().filter((entry) => entryKey(entry) === device)
        const events = sent.filter((event) => deviceKey(event) === device)
        expect(seen.map(recordId)).toEqual(events.map((event) => event.recordId))
        expect(isRising(seen.map(({ origin }) => origin.offset))).toBe(true)
      }
      expect(reader.events()).toHaveLength(sent.length)
    },
  )

  promise(
    'entries are delivered only once durable, and then stay',
    async ({ consume, log, opened }) => {
      const seenElsewhere: boolean[] = []
      const reader = consume(log, {
        async onBatch({ entries }) {
          const elsewhere = startTail(await opened.reopen(), {})
          const last = recordId(entries.at(-1)!)
          await eventually(() => elsewhere.events().some((e) => e.recordId === last), SOON)
          seenElsewhere.push(true)
          await elsewhere.stop()
        },
      })
      const append = log.append(samples(2))
      await eventually(() => reader.events().length >= 2, SOON)
      await append
      expect(seenElsewhere).toContain(true)
    },
  )

  promise('a closed log is not ready, and rejects appends as retriable', async ({ log }) => {
    await log.ready()
    await log.close()
    const closed = { name: 'DependencyError', retriable: true }
    await expect(log.append(samples(1))).rejects.toMatchObject(closed)
    await expect(log.ready()).rejects.toMatchObject({ name: 'DependencyError' })
    await log.close()
  })

  promise('closing finishes queued appends', async ({ consume, log, opened }) => {
    const appends = Array.from({ length: 20 }, () => log.append(samples(30)))
    await Promise.all([log.close(), ...appends])
    const reader = consume(await opened.reopen())
    await eventually(() => reader.events().length >= 600, SOON)
    expect(reader.events()).toHaveLength(600)
  })
}
