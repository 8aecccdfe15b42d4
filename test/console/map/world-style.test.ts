import { expect, test } from '@jest/globals'
import Feature from 'ol/Feature.js'
import Point from 'ol/geom/Point.js'
import type Circle from 'ol/style/Circle.js'
import { worldStyle } from '../../../console/map/world-style.ts'
import type { Palette } from '../../../console/core/palette.ts'

const palette = new Proxy({} as Palette, { get: (_all, name) => String(name) })
const METRES_PER_PIXEL = 40

test('where another map has names, and just beside it, the world map has none', () => {
  const style = worldStyle(palette, [0, 0, 1_000, 1_000])
  const town = (...at: number[]) =>
    new Feature({ layer: 'towns', name: 'Wien', people: 2e6, geometry: new Point(at) })
  expect(style(town(500, 500), METRES_PER_PIXEL)).toBeUndefined()
  expect(style(town(500, 1_500), METRES_PER_PIXEL)).toBeUndefined()
  expect(style(town(500, 9_000), METRES_PER_PIXEL)?.getText()?.getText()).toBe('Wien')
})

test('a town is a dot beside its name, larger for more people, once there is room for it', () => {
  const style = worldStyle(palette, undefined)
  const radiusAt = (people: number, metresPerPixel: number) => {
    const town = new Feature({ layer: 'towns', name: 'Wien', people, geometry: new Point([0, 0]) })
    return (style(town, metresPerPixel)?.getImage() as Circle | null | undefined)?.getRadius()
  }
  expect(radiusAt(2e6, METRES_PER_PIXEL)).toBeGreaterThan(radiusAt(5_000, METRES_PER_PIXEL) ?? 0)
  expect(radiusAt(2e6, 5_000)).toBeUndefined()
})

test('lakes are named, and rivers get wider with the zoom', () => {
  const style = worldStyle(palette, undefined)
  const lake = new Feature({ layer: 'lakeNames', name: 'Mälaren', geometry: new Point([0, 0]) })
  expect(style(lake, METRES_PER_PIXEL)?.getText()?.getText()).toBe('Mälaren')
  const river = new Feature({ layer: 'rivers', min_zoom: 4 })
  const widthAt = (metresPerPixel: number) => style(river, metresPerPixel)?.getStroke()?.getWidth()
  expect(widthAt(40)).toBeGreaterThan(widthAt(1_000) ?? 0)
})
