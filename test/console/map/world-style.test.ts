import { expect, test } from '@jest/globals'
import Feature from 'ol/Feature.js'
import Point from 'ol/geom/Point.js'
import { worldStyle } from '../../../console/map/world-style.ts'
import type { Palette } from '../../../console/core/palette.ts'

const palette = new Proxy({} as Palette, { get: (_all, name) => String(name) })
const METRES_PER_PIXEL = 40

test('where another map has names, the map of the world has none', () => {
  const style = worldStyle(palette, [0, 0, 1_000, 1_000])
  const town = (...at: number[]) =>
    new Feature({ layer: 'towns', name: 'Wien', people: 2e6, geometry: new Point(at) })
  expect(style(town(500, 500), METRES_PER_PIXEL)).toBeUndefined()
  expect(style(town(500, 1_500), METRES_PER_PIXEL)?.getText()?.getText()).toBe('Wien')
})
