import { afterEach, expect, jest, test } from '@jest/globals'
import { paced } from '../../embedded/paced.ts'
import { fakeTimers } from '../fake-timers.ts'

afterEach(() => void jest.useRealTimers())

test('frequent figures are printed immediately, then at their pace, and the last one too', () => {
  fakeTimers('performance', 'setTimeout')
  const told: number[] = []
  let said = 0
  const tell = paced(20, () => told.push(said))
  for (let ms = 0; ms < 50; ms += 1) {
    said += 1
    tell()
    jest.advanceTimersByTime(1)
  }
  expect(told).toEqual([1, 20, 40])
  jest.advanceTimersByTime(20)
  expect(told).toEqual([1, 20, 40, 50])
  jest.advanceTimersByTime(1_000)
  expect(told).toHaveLength(4)
})
