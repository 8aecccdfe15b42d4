import { beforeAll, describe, expect, test } from '@jest/globals'
import { positionReported, T0 } from '../samples.ts'
import type { StoreSuite } from './store-suite.ts'
import { batchOf, deviceErased, newAccountId, type PositionEntry } from './store-samples.ts'

const TIMES = [0, 0, 5, 10, 10, 11, 99, 100, 250]

export function historyCountsContract({ promise, shared, log }: StoreSuite): void {
  describe('counting the records of a device', () => {
    const accountId = newAccountId()

    beforeAll(async () => {
      const events = ['tug', 'Tug'].flatMap((deviceId) =>
        TIMES.map((ms) => positionReported({ accountId, deviceId, timestamp: T0 + ms })),
      )
      const [first, ...others] = events.map((event) => log.append(event))
      await shared.store.project(batchOf(first as PositionEntry, ...others))
    })

    const count = (bounds: readonly number[], deviceId = 'tug') =>
      shared.store.countPositions({ accountId, deviceId, bounds: bounds.map((ms) => T0 + ms) })

    test.each([
      [
        [0, 10, 100, 1_000],
        [3, 4, 2],
      ],
      [[0, 1_000], [9]],
      [
        [1, 10, 11],
        [1, 2],
      ],
      [
        [-50, 0, 0, 5, 5],
        [0, 0, 2, 0],
      ],
      [
        [300, 400, 500],
        [0, 0],
      ],
      [[7, 7], [0]],
      [[7], []],
    ])('the records of a device between %j are %j', async (bounds, counts) => {
      expect(await count(bounds)).toEqual(counts)
    })

    promise(
      'the records of a thousand hours are counted within the limit for a response',
      async () => {
        const deviceId = 'month'
        const hour = 3_600_000
        for (let start = 0; start < 2_000; start += 500) {
          const some = Array.from({ length: 500 }, (_, n) => {
            const timestamp = T0 + (start + n) * (hour / 2)
            return log.append(positionReported({ accountId, deviceId, timestamp }))
          })
          await shared.store.project(batchOf(...(some as [PositionEntry, ...PositionEntry[]])))
        }
        const bounds = Array.from({ length: 1_001 }, (_, n) => n * hour)
        expect(await count(bounds, deviceId)).toEqual(Array.from({ length: 1_000 }, () => 2))
      },
    )

    promise('an unknown device has no records', async () => {
      expect(await count([0, 10, 1_000], 'TUG')).toEqual([0, 0])
    })

    promise(
      'an erased device has no records, before and after the erasure is applied, until it reports',
      async () => {
        const erasure = deviceErased({ accountId, deviceId: 'Tug' })
        expect(await count([0, 1_000], 'Tug')).toEqual([9])
        await shared.store.hideErased(erasure)
        expect(await count([0, 1_000], 'Tug')).toEqual([0])
        await shared.store.project(batchOf(log.erase(erasure)))
        expect(await count([0, 1_000], 'Tug')).toEqual([0])
        const anew = positionReported({ accountId, deviceId: 'Tug', timestamp: T0 + 3 })
        await shared.store.project(batchOf(log.append(anew)))
        expect(await count([0, 1_000], 'Tug')).toEqual([1])
      },
    )
  })
}
