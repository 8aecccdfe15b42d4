import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { LeapFilter } from '../../../schemas/geo/leap-filter.ts'
import { earthPointOf } from '../../../schemas/geo/earth-point.ts'
import { T0 } from '../../samples.ts'

/** Seconds and degrees to the north of each record; a second apart by default. */
type Told = readonly [seconds: number, north: number]

function recordsOf(told: readonly Told[]) {
  return told.map(([seconds, north]) => ({
    timestamp: T0 + seconds * 1_000,
    north,
    place: earthPointOf(north, 10),
  }))
}

function passed(...told: readonly Told[]): Told[] {
  const kept: Told[] = []
  const filter = new LeapFilter<ReturnType<typeof recordsOf>[number]>(({ timestamp, north }) =>
    kept.push([(timestamp - T0) / 1_000, north]),
  )
  for (const record of recordsOf(told)) filter.add(record)
  filter.end()
  return kept
}

test('a single record that leaps away, with the next back again, is dropped, however often that happens', () => {
  const [a, b, c]: Told[] = [
    [0, 50],
    [60, 50.001],
    [120, 50.002],
  ]
  expect(passed(a!, [30, 0], b!, [90, 0], c!)).toEqual([a, b, c])
})

test('a record that leaps away stays if the next is at the same point or elsewhere, or if there is none', () => {
  for (const next of [[20, 0.001], [20, 25], undefined] as const) {
    const told: Told[] = [[0, 50], [10, 0], ...(next === undefined ? [] : [next])]
    expect(passed(...told)).toEqual(told)
  }
  const first: Told[] = [
    [0, 0],
    [10, 50],
    [20, 50.001],
  ]
  expect(passed(...first)).toEqual(first)
})

test('no records of a drive are dropped, at any interval', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 1 }), (pauses) => {
      let seconds = 0
      // 100 m/s, to the north and back.
      const told = pauses.map((pause): Told => {
        seconds += pause
        const metres = (seconds * 100) % 8e6
        return [seconds, (metres < 4e6 ? metres : 8e6 - metres) / 111_195]
      })
      expect(passed(...told)).toEqual(told)
    }),
  )
})

test('records after a certain one do not depend on where reading starts', () => {
  const place = fc.constantFrom(50, 50.001, 50.01, 0, 0.001, 25)
  const told = fc.array(fc.tuple(fc.constantFrom(1, 10, 4_000), place), { minLength: 3 })
  fc.assert(
    fc.property(told, fc.nat(20), (pauses, skipped) => {
      let seconds = 0
      const records = recordsOf(pauses.map(([pause, north]): Told => [(seconds += pause), north]))
      const whole: unknown[] = []
      const part: unknown[] = []
      let certainFrom = Infinity
      const one = new LeapFilter<(typeof records)[number]>((record) => whole.push(record))
      const other = new LeapFilter<(typeof records)[number]>((record) => {
        if (record.timestamp >= certainFrom) part.push(record)
      })
      for (const [n, record] of records.entries()) {
        one.add(record)
        if (n < skipped) continue
        other.add(record)
        if (other.isCertain && certainFrom === Infinity) certainFrom = record.timestamp + 1
      }
      one.end()
      other.end()
      expect(
        whole.filter((record) => (record as { timestamp: number }).timestamp >= certainFrom),
      ).toEqual(part)
    }),
  )
})
