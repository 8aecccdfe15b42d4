import { jest } from '@jest/globals'
import { fakeTimers } from '../fake-timers.ts'

/**
 * From now on no wait is too long, even on a slow machine. Returns a function with which time goes on;
 * waits that have begun by then have no end.
 */
export function stopTime(): () => void {
  fakeTimers('setTimeout', 'clearTimeout')
  const now = jest.spyOn(performance, 'now').mockReturnValue(performance.now())
  return () => {
    now.mockRestore()
    jest.useRealTimers()
  }
}
