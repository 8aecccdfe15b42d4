import { describe, expect, test } from '@jest/globals'
import { labelPlace, overlap } from '../../../console/core/label-place.ts'

const label = { width: 50, height: 20, obstacles: [], boxes: [], viewWidth: 360 }
const right = { left: 117, top: 90, right: 167, bottom: 110 }

describe('the position of a label', () => {
  test('is to the right of the device, or to the left of one at the right edge', () => {
    expect(labelPlace({ x: 100, y: 100 }, label)).toEqual(right)
    expect(labelPlace({ x: 340, y: 100 }, label)).toMatchObject({ left: 273, right: 323 })
  })

  test('is on another side where the map has a control, or another label', () => {
    const boxes = [{ ...right, left: 150, right: 200 }]
    expect(labelPlace({ x: 100, y: 100 }, { ...label, boxes })).toMatchObject({ right: 83 })
  })

  test('is below a device at the left edge with another one to its right, and in view', () => {
    const obstacles = [{ x: 70, y: 100, radius: 20 }]
    const place = labelPlace({ x: 10, y: 100 }, { ...label, obstacles })
    expect(place).toMatchObject({ left: 4, top: 117, bottom: 137 })
  })

  test('is above it if another label is below, too, with room for both lines', () => {
    const obstacles = [
      { x: 70, y: 100, radius: 20 },
      { x: 30, y: 140, radius: 7 },
    ]
    const place = labelPlace({ x: 10, y: 100 }, { ...label, height: 34, obstacles })
    expect(place).toMatchObject({ left: 4, top: 49, bottom: 83 })
  })

  test('is absent if every side is taken, unless the label is required', () => {
    const boxes = [{ left: 0, top: 0, right: 360, bottom: 360 }]
    expect(labelPlace({ x: 100, y: 100 }, { ...label, boxes })).toBeUndefined()
    expect(labelPlace({ x: 100, y: 100 }, { ...label, boxes }, { isWanted: true })).toEqual(right)
  })

  test('is complete: a device out of view has a label only if all of it is in view', () => {
    expect(labelPlace({ x: -13, y: 100 }, label)).toMatchObject({ left: 4 })
    expect(labelPlace({ x: -30, y: 100 }, label)).toBeUndefined()
  })

  test('may touch another label, but not cover it', () => {
    const beside = { ...right, left: right.right, right: right.right + 50 }
    expect([overlap(right, beside), overlap(right, { ...beside, left: 166 })]).toEqual([
      false,
      true,
    ])
  })
})
