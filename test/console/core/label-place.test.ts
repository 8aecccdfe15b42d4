import { describe, expect, test } from '@jest/globals'
import { freeWidth, labelPlace } from '../../../console/core/label-place.ts'

const label = { width: 50, lines: 2, obstacles: [], viewWidth: 360 }

describe('the place of a label', () => {
  test('is to the right of the device, or to the left of one at the right edge', () => {
    expect(labelPlace({ x: 100, y: 100 }, label)).toEqual({ align: 'left', x: 119, y: 100 })
    expect(labelPlace({ x: 340, y: 100 }, label)).toEqual({ align: 'right', x: 321, y: 100 })
  })

  test('leaves the buttons at the right edge free, except where the device itself is under them', () => {
    expect([freeWidth({ x: 250, y: 100 }, 360), freeWidth({ x: 250, y: 300 }, 360)]).toEqual([
      296, 360,
    ])
    expect(freeWidth({ x: 340, y: 100 }, 360)).toBe(360)
  })

  test('is below a device at the left edge that has another one to its right, and in view', () => {
    const obstacles = [{ x: 70, y: 100, radius: 20 }]
    const place = labelPlace({ x: 10, y: 100 }, { ...label, obstacles })
    expect(place).toEqual({ align: 'center', x: 4 + 50 / 2, y: 126 })
  })

  test('is above it where another one is below, too, with room for both lines', () => {
    const obstacles = [
      { x: 70, y: 100, radius: 20 },
      { x: 30, y: 140, radius: 7 },
    ]
    const place = labelPlace({ x: 10, y: 100 }, { ...label, obstacles })
    expect(place).toEqual({ align: 'center', x: 4 + 50 / 2, y: 100 - 26 - 14 })
  })

  test('is beside a device that is out of view itself', () => {
    expect(labelPlace({ x: -15, y: 100 }, label)).toMatchObject({ align: 'left', x: 4 })
    expect(labelPlace({ x: -30, y: 100 }, label)).toMatchObject({ align: 'left', x: -11 })
  })
})
