import { expect, test } from '@jest/globals'
import { gazetteer, readTowns } from '../../../admin-api/places/gazetteer.ts'
import { metresBetween, type Coordinates } from '../../../schemas/geo/distance.ts'

test('the gazetteer knows 135 000 towns in less than 8 MB, and is read once', async () => {
  const towns = await gazetteer()
  expect(towns.size).toBeGreaterThan(135_000)
  expect(towns.bytes).toBeLessThan(8e6)
  expect(await gazetteer()).toBe(towns)
})

test('the town found is the nearest', async () => {
  const towns = await gazetteer()
  const all: Coordinates[] = []
  await readTowns(({ latitude, longitude }) => all.push({ latitude, longitude }))
  for (let n = 0; n < 8; n += 1) {
    const at = { latitude: 47 + ((n * 7) % 13) / 2, longitude: 6 + ((n * 11) % 17) / 2 }
    const nearest = all.reduce((least, town) => Math.min(least, metresBetween(at, town)), Infinity)
    expect(towns.nearest(at)?.distanceMetres).toBeCloseTo(nearest, -1)
  }
})
