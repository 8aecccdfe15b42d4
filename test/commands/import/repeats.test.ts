import { expect, test } from '@jest/globals'
import { Repeats } from '../../../commands/import/tally.ts'

test('a point is a repeat if any earlier point has the same device, time, coordinates and alarm', () => {
  const point = (n: number) => ({
    deviceId: `device-${n % 7}`,
    latitude: (n % 90) + 0.5,
    longitude: n / 1e6,
    timestamp: new Date(n * 1000).toISOString(),
  })
  const repeats = new Repeats()
  const added = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, n) => repeats.add(point(from + n))).filter(Boolean).length
  expect(added(0, 20_000)).toBe(0)
  expect(added(0, 20_000)).toBe(20_000)
  expect(added(19_999, 20_001)).toBe(1)
  const changes = [
    ...[{ deviceId: 'x' }, { latitude: 9 }, { longitude: 9 }, { timestamp: '' }],
    { attributes: { alarm: 'sos' } },
  ]
  for (const change of changes) expect(repeats.add({ ...point(5), ...change })).toBe(false)
  expect(repeats.add({ ...point(5), attributes: { ignition: true } })).toBe(true)
})
