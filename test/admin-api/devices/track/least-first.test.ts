import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { LeastFirst } from '../../../../admin-api/devices/track/least-first.ts'

const SIZE = 12

test('the least item comes first after any additions, changes and removals', () => {
  const step = fc.record({
    item: fc.integer({ min: 0, max: SIZE - 1 }),
    priority: fc.option(fc.integer({ min: 0, max: 50 }), { nil: undefined }),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const heap = new LeastFirst(SIZE)
      const known = new Map<number, number>()
      for (const { item, priority } of steps) {
        if (priority === undefined) {
          heap.remove(item)
          known.delete(item)
        } else {
          heap.set(item, priority)
          known.set(item, priority)
        }
        const { least } = heap
        expect(least?.priority).toBe(known.size === 0 ? undefined : Math.min(...known.values()))
        if (least !== undefined) expect(known.get(least.item)).toBe(least.priority)
      }
    }),
  )
})
