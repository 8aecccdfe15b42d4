import { createRequire } from 'node:module'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { partitionOf } from '../../../event-log/kafka/partitions.ts'

describe('the partition of a key', () => {
  // Values from Kafka's own UtilsTest.testMurmur2.
  test.each([
    ['21', -973932308],
    ['foobar', -790332482],
    ['a-little-bit-long-string', -985981536],
    ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
    ['abc', 479470107],
  ])('a key gets the same partition as in the Java client: %s', (key, murmur2) => {
    for (const count of [1, 3, 12]) {
      const partitions = Array.from({ length: count }, () => ({ leader: 1, inSync: 1 }))
      expect(partitionOf(key, partitions)).toBe((murmur2 & 0x7fffffff) % count)
    }
  })

  test('the partition of a key does not depend on who leads the partitions', () => {
    const partitions = Array.from({ length: 12 }, () => ({ leader: undefined, inSync: 0 }))
    expect(partitionOf('abc', partitions)).toBe((479470107 & 0x7fffffff) % 12)
  })

  test('any key gets the same partition as in kafkajs', () => {
    const murmur2 = createRequire(import.meta.url)(
      'kafkajs/src/producer/partitioners/default/murmur2',
    ) as (key: string | Buffer) => number
    const text = fc.string({ unit: 'binary', maxLength: 40 })
    const bytes = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array))
    const partitions = Array.from({ length: 1009 }, () => ({ leader: 1, inSync: 1 }))
    fc.assert(
      fc.property(fc.oneof(text, bytes), (key) => {
        expect(partitionOf(key, partitions)).toBe((murmur2(key) & 0x7fffffff) % 1009)
      }),
      { numRuns: 2_000 },
    )
  })

  test('an entry without a key goes to a partition that has a leader', () => {
    const partitions = [undefined, 3, undefined].map((leader) => ({ leader, inSync: 1 }))
    for (let time = 0; time < 10; time += 1) expect(partitionOf(null, partitions)).toBe(1)
  })
})
