import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { RING_STEPS, statusRing } from '../../../console/core/status-ring.ts'

const statuses = fc.constantFrom('online', 'idle', 'offline', 'disabled' as const)
const devices = (...all: readonly ('online' | 'idle' | 'offline' | 'disabled')[]) =>
  all.map((status) => ({ status }))

test('a ring is whole, shows every status that a device has, and no other', () => {
  fc.assert(
    fc.property(fc.array(statuses, { minLength: 1, maxLength: 500 }), (all) => {
      const ring = statusRing(devices(...all))
      expect(ring.reduce((sum, { steps }) => sum + steps, 0)).toBe(RING_STEPS)
      expect(new Set(ring.map(({ status }) => status))).toEqual(new Set(all))
      for (const { steps } of ring) expect(steps).toBeGreaterThan(0)
    }),
  )
})

test('the parts of a ring are as large as the shares of the statuses', () => {
  fc.assert(
    fc.property(fc.array(statuses, { minLength: 48, maxLength: 500 }), (all) => {
      for (const { status, steps } of statusRing(devices(...all))) {
        const share = all.filter((one) => one === status).length / all.length
        expect(Math.abs(steps - share * RING_STEPS)).toBeLessThanOrEqual(1)
      }
    }),
  )
})

test('one device offline among many online is seen', () => {
  const all = [...Array.from({ length: 999 }, () => 'online' as const), 'offline' as const]
  expect(statusRing(devices(...all))).toEqual([
    { status: 'online', steps: RING_STEPS - 1 },
    { status: 'offline', steps: 1 },
  ])
})
