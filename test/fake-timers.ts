import { jest } from '@jest/globals'

const APIS = [
  ...(['Date', 'hrtime', 'nextTick', 'performance', 'queueMicrotask'] as const),
  ...(['requestAnimationFrame', 'cancelAnimationFrame'] as const),
  ...(['requestIdleCallback', 'cancelIdleCallback', 'setImmediate', 'clearImmediate'] as const),
  ...(['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] as const),
]

/**
 * From now on `jest.advanceTimersByTime` drives only these clocks and timers; sockets, files and
 * `eventually` are real. Ends with `jest.useRealTimers()`.
 */
export function fakeTimers(...faked: (typeof APIS)[number][]): void {
  jest.useFakeTimers({ doNotFake: APIS.filter((api) => !faked.includes(api)) })
}
