import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { nearMarks } from '../../../console/core/clusters.ts'

const AROUND = 200
const CELL = 12
const marks = fc.array(
  fc.record({
    x: fc.integer({ min: -100, max: 100 }),
    y: fc.integer({ min: -100, max: 100 }),
    radius: fc.integer({ min: 0, max: 15 }),
    isRemoved: fc.boolean(),
  }),
)

test('the nearest overlapping mark is found among the remaining ones, on either way around', () => {
  fc.assert(
    fc.property(marks, (all) => {
      const near = nearMarks({ most: all.length, around: AROUND, cell: CELL })
      for (const { x, y, radius } of all) near.add(x, y, radius)
      all.forEach(({ isRemoved }, mark) => isRemoved && near.remove(mark))
      for (const [mark, one] of all.entries()) {
        const distances = all.map((other, index) => {
          const across = Math.abs(other.x - one.x)
          const distance = Math.hypot(Math.min(across, AROUND - across), other.y - one.y)
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
