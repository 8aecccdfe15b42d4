import { expect, test } from '@jest/globals'
import { featureParts } from '../../../console/core/feature-parts.ts'

test('features are sent in parts of at most a thousand, in order', () => {
  const features = Array.from({ length: 2_500 }, (_, n) => ({ n }))
  const parts = featureParts(features)
  expect(parts.map((part) => part.length)).toEqual([1_000, 1_000, 500])
  expect(parts.flat()).toEqual(features)
})

test('large features are sent in parts below the limit of a body', () => {
  const large = { text: 'x'.repeat(400_000) }
  expect(featureParts([large, large, large, { n: 1 }]).map((part) => part.length)).toEqual([2, 2])
})
