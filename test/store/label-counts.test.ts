import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { LabelCounts } from '../../store/label-counts.ts'

const labels = fc.array(fc.nat(9_000).map(String), { maxLength: 4_000 })

test('a page of label counts equals that part of all counts', () => {
  fc.assert(
    fc.property(labels, fc.integer({ min: 1, max: 60 }), fc.nat(9_000), (added, limit, last) => {
      const [counts, all] = [
        new LabelCounts({ limit, after: String(last) }),
        new Map<string, number>(),
      ]
      for (const label of added) {
        counts.add(label, 1)
        all.set(label, (all.get(label) ?? 0) + 1)
      }
      const expected = [...all.keys()]
        .filter((label) => label > String(last))
        .sort()
        .slice(0, limit)
        .map((label) => ({ label, devices: all.get(label) }))
      expect(counts.list()).toEqual(expected)
    }),
    { numRuns: 100 },
  )
})
