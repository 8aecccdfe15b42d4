import { describe, expect, test } from '@jest/globals'
import {
  addRejection,
  withNewest,
  type Rejection,
  type ShownRejections,
} from '../../../../console/pages/rejections/merge-rejections.ts'

const rejection = (rejectionId: string, given: Partial<Rejection> = {}): Rejection => ({
  rejectionId,
  receivedAt: '2026-01-31T12:00:00.000Z',
  keyId: 'key',
  error: 'INVALID_PARAMS',
  message: 'latitude is missing',
  count: 1,
  ...given,
})
const ids = (rejections: readonly Rejection[]) => rejections.map((one) => one.rejectionId)

describe('rejections that come while the list is shown', () => {
  test('new rejections come before the list, each once', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((id) => rejection(id)) as [
      Rejection,
      Rejection,
      Rejection,
    ]
    let newest: readonly Rejection[] = []
    for (const one of [b, c, c]) newest = addRejection(newest, one, {})
    expect(ids(newest)).toEqual(['c', 'b'])
    expect(ids(withNewest(newest, [b, a]))).toEqual(['c', 'b', 'a'])
  })

  test.each<[ShownRejections]>([
    [{ keyId: 'other' }],
    [{ deviceId: 'van' }],
    [{ error: 'FORBIDDEN' }],
    [{ from: '2026-01-31T12:00:00.001Z' }],
    [{ to: '2026-01-31T12:00:00.000Z' }],
  ])('are left out where the filter %o leaves them out', (filter) => {
    expect(addRejection([], rejection('a'), filter)).toEqual([])
  })

  test('rejections stay where the filter names their own time', () => {
    const filter = { from: '2026-01-31T12:00:00.000Z', to: '2026-01-31T12:00:00.001Z' }
    expect(addRejection([], rejection('a'), filter)).toHaveLength(1)
  })

  test('a count of rejections that has grown replaces the one before', () => {
    const newest = addRejection([rejection('a')], rejection('a', { count: 7 }), {})
    expect(newest).toMatchObject([{ count: 7 }])
  })

  test('new rejections do not fill the memory', () => {
    let newest: readonly Rejection[] = []
    for (let n = 0; n < 1_000; n += 1) newest = addRejection(newest, rejection(String(n)), {})
    expect(newest).toHaveLength(200)
  })
})
