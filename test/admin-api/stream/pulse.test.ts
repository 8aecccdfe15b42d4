import { afterEach, expect, jest, test } from '@jest/globals'
import { STREAM_OPTIONS } from '../../../admin-api/stream/options.ts'
import { startPulse } from '../../../admin-api/stream/reader.ts'

const ending = new AbortController()

afterEach(() => {
  ending.abort()
  jest.useRealTimers()
})

test('a client that gives up after 5 s without a byte stays connected to a quiet stream', () => {
  jest.useFakeTimers()
  const { heartbeatMs } = STREAM_OPTIONS
  const pulse = startPulse({ heartbeatMs, mark: () => 'here', signal: ending.signal })
  expect(pulse.beat()).toBeUndefined()
  for (let beats = 0; beats < 5; beats += 1) {
    jest.advanceTimersByTime(4_000)
    expect(pulse.beat()).toBe('event: heartbeat\nid: here\ndata: {}\n\n')
  }
})
