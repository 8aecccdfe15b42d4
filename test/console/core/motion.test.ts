import { describe, expect, test } from '@jest/globals'
import { isMoving, advanceMotion, type Motion } from '../../../console/core/motion.ts'

const MINUTE = 60_000
const HOME = { latitude: 52.5, longitude: 13.4 }
/** A position about this many metres north of home. */
const north = (metres: number) => ({ ...HOME, latitude: 52.5 + metres / 111_195 })

type Step = {
  atMs: number
  metres?: number
  speed?: number
  accuracy?: number
  isNext?: boolean
}

function after(...steps: readonly Step[]): Motion | undefined {
  let motion: Motion | undefined
  for (const { atMs, metres = 0, isNext = true, ...measured } of steps) {
    motion = advanceMotion(motion, { ...north(metres), ...measured }, { atMs, isNext })
  }
  return motion
}

describe('moving or stationary', () => {
  test('a single position gives the speed, but not since when', () => {
    expect(after({ atMs: 0, speed: 8.6 })).toMatchObject({ speed: 8.6, sinceMs: undefined })
    expect(after({ atMs: 0 })).toMatchObject({ speed: undefined, sinceMs: undefined })
  })

  test('a parked device counts as stationary since its first position there', () => {
    const steps = [
      { atMs: 0, metres: -2_000, speed: 12 },
      { atMs: MINUTE, metres: 5, speed: 0 },
      { atMs: 5 * MINUTE, metres: -20, speed: 0.4 },
      { atMs: 9 * MINUTE, metres: 30, speed: 0 },
    ]
    expect(after(...steps)).toMatchObject({ speed: 0, sinceMs: MINUTE })
  })

  test('since when is unknown for a device that was stationary from the start', () => {
    expect(after({ atMs: 0, speed: 0 }, { atMs: MINUTE, speed: 0 })?.sinceMs).toBeUndefined()
  })

  test('since when is unknown if earlier positions are missing', () => {
    const steps = [
      { atMs: 0, metres: -2_000, speed: 12 },
      { atMs: 60 * MINUTE, speed: 0, isNext: false },
      { atMs: 61 * MINUTE, speed: 0 },
    ]
    expect(after(...steps)?.sinceMs).toBeUndefined()
  })

  test('a drive around the block ends the stationary time', () => {
    const steps = [
      { atMs: 0, metres: -2_000, speed: 12 },
      { atMs: MINUTE, speed: 0 },
      { atMs: 9 * MINUTE, metres: 20, speed: 9 },
      { atMs: 10 * MINUTE, speed: 0 },
    ]
    expect(after(...steps)?.sinceMs).toBe(10 * MINUTE)
  })

  test('without a reported speed, two positions decide, unless they are far apart in time', () => {
    const drive = after({ atMs: 0 }, { atMs: MINUTE, metres: 600 })
    expect(drive?.speed).toBeCloseTo(10, 1)
    expect(after({ atMs: 0 }, { atMs: 6 * MINUTE, metres: 600 })?.speed).toBeUndefined()
    expect(after({ atMs: 0 }, { atMs: MINUTE, metres: 600, isNext: false })?.speed).toBeUndefined()
    expect(after({ atMs: 0 }, { atMs: MINUTE, metres: 40 })?.speed).toBe(0)
  })

  test('an inaccurate position some way off does not end the stationary time', () => {
    const steps = [
      { atMs: 0, metres: -2_000 },
      { atMs: MINUTE, metres: 0, speed: 0 },
      { atMs: 2 * MINUTE, metres: 180, accuracy: 200 },
    ]
    expect(after(...steps)).toMatchObject({ speed: 0, sinceMs: MINUTE })
  })

  test('the jitter of a parked device does not count as moving, a walk does', () => {
    expect([0.4, 1.3, undefined].map((speed) => isMoving({ speed }))).toEqual([false, true, false])
  })
})
