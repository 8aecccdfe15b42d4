import { jest } from '@jest/globals'
import { fakeTimers } from '../fake-timers.ts'

const monotonic = performance.now.bind(performance)

/**
 * From now on no wait is too long, even on a slow machine. Returns a function that lets time continue from
 * where it stopped; timers that started in between never fire.
 */
export function stopTime(): () => void {
  fakeTimers('setTimeout', 'clearTimeout')
  const stoppedAt = monotonic()
  const now = jest.spyOn(performance, 'now').mockReturnValue(stoppedAt)
  return () => {
    const missed = monotonic() - stoppedAt
    now.mockImplementation(() => monotonic() - missed)
    jest.useRealTimers()
  }
}
