import { describe, expect, test } from '@jest/globals'
import { createRing, type Aside, type RingEntry } from '../../../event-log/reading/ring.ts'
import { positionReported, T0 } from '../../samples.ts'

const LARGE = 2 ** 30

function position(
  origin: { partition: number; offset: number },
  changes: Parameters<typeof positionReported>[0] = {},
): RingEntry {
  return { kind: 'position', origin, event: positionReported(changes) }
}

function aside(changes: Partial<Aside>): Aside {
  return {
    kind: 'aside',
    name: 'device-status',
    isErasable: true,
    text: '',
    accountId: 'acc-1',
    deviceId: 'tug',
    ...changes,
  }
}

describe('the ring', () => {
  test('the ring holds the last entries and the mark before them', () => {
    const ring = createRing({ before: { 0: 9 }, maxEntries: 3, maxBytes: LARGE })
    for (let offset = 10; offset < 14; offset += 1) {
      ring.push(position({ partition: offset % 2, offset }))
    }
    ring.push(aside({ text: 'x' }))
    expect([ring.first, ring.end]).toEqual([2, 5])
    expect(ring.before).toEqual({ 0: 10, 1: 11 })
    expect(ring.at(1)).toBeUndefined()
    expect(ring.at(2)).toMatchObject({ origin: { offset: 12 } })
    expect(ring.at(4)).toMatchObject({ kind: 'aside' })
    expect(ring.at(5)).toBeUndefined()
  })

  test('large and small entries fill the ring to about its byte limit', () => {
    const ring = createRing({ before: {}, maxEntries: 1_000, maxBytes: 100_000 })
    for (let offset = 0; offset < 100; offset += 1) {
      ring.push(position({ partition: 0, offset }, { accountId: 'a'.repeat(offset * 100) }))
    }
    expect(ring.end - ring.first).toBeLessThan(6)
    expect(ring.end).toBe(100)
    const text = 'x'.repeat(10_000)
    for (let time = 0; time < 20; time += 1) ring.push(aside({ text }))
    expect(ring.end - ring.first).toBeLessThan(6)
    // Removed entries no longer count.
    for (let offset = 100; offset < 150; offset += 1) ring.push(position({ partition: 0, offset }))
    expect(ring.end - ring.first).toBe(50)
  })

  test('an entry larger than the ring stays until the next one arrives', () => {
    const ring = createRing({ before: {}, maxEntries: 10, maxBytes: 5_000 })
    ring.push(position({ partition: 0, offset: 0 }))
    ring.push(position({ partition: 0, offset: 1 }, { deviceId: 'x'.repeat(10_000) }))
    expect([ring.first, ring.end]).toEqual([1, 2])
    ring.push(position({ partition: 0, offset: 2 }))
    expect([ring.first, ring.end]).toEqual([2, 3])
  })

  test('an erasure removes the device’s positions and its erasable asides from the ring, no others', () => {
    const ring = createRing({ before: {}, maxEntries: 20, maxBytes: LARGE })
    const tug = { deviceId: 'tug', receivedAt: T0 }
    const entries: readonly (readonly [RingEntry, boolean])[] = [
      [position({ partition: 1, offset: 3 }, tug), true],
      [position({ partition: 1, offset: 4 }, { ...tug, deviceId: 'barge' }), false],
      [position({ partition: 1, offset: 5 }, { ...tug, accountId: 'acc-2' }), false],
      [position({ partition: 2, offset: 0 }, tug), true],
      [position({ partition: 2, offset: 1 }, { ...tug, receivedAt: T0 + 2 }), false],
      [position({ partition: 1, offset: 6 }, { ...tug, receivedAt: T0 + 2 }), true],
      [aside({}), true],
      [aside({ accountId: 'acc-2' }), false],
      [aside({ isErasable: false }), false],
    ]
    for (const [entry] of entries) ring.push(entry)
    const origin = { partition: 1, offset: 7 }
    ring.erase({ accountId: 'acc-1', deviceId: 'tug', origin, erasedAt: T0 + 1 })
    const gone = entries.map((_, number) => ring.at(number)?.kind === 'erased')
    expect(gone).toEqual(entries.map(([, taken]) => taken))
    expect(ring.at(0)).toMatchObject({ origin: { partition: 1, offset: 3 } })
  })
})
