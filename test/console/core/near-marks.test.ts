import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { nearMarks } from '../../../console/core/near-marks.ts'

const REACH = 20
const marks = fc.array(
  fc.record({
    x: fc.integer({ min: -100, max: 100 }),
    y: fc.integer({ min: -100, max: 100 }),
    radius: fc.integer({ min: 0, max: REACH / 2 }),
    isRemoved: fc.boolean(),
  }),
)

test('the nearest overlapping mark is found among those that are left', () => {
  fc.assert(
    fc.property(marks, (all) => {
      const near = nearMarks(REACH)
      for (const { x, y, radius } of all) near.add(x, y, radius)
      all.forEach(({ isRemoved }, mark) => isRemoved && near.remove(mark))
      for (const [mark, one] of all.entries()) {
        const distances = all.map((other, index) => {
          const distance = Math.hypot(other.x - one.x, other.y - one.y)
          const isIt = index !== mark && !other.isRemoved && distance < one.radius + other.radius
          return isIt ? distance : Infinity
        })
        const found = near.overlapping(mark)
        const least = Math.min(Infinity, ...distances)
        expect(found === undefined ? Infinity : distances[found]).toBeCloseTo(least, 9)
      }
    }),
  )
})
