import { expect, test } from '@jest/globals'
import { reportRates } from '../../ingest-api/service.ts'
import { createMetrics } from '../../runtime/process/metrics.ts'
import { T0 } from '../samples.ts'

function measured() {
  const clock = { time: T0, now: () => clock.time }
  const metrics = createMetrics()
  const rates = reportRates({ metrics, clock })
  return {
    count: (outcome: string, times: number) => metrics.reports.inc({ outcome }, times),
    /** The rate this many seconds after the start. */
    at: async (seconds: number) => {
      clock.time = T0 + seconds * 1_000
      const { acceptedPerMinute, refusedPerMinute } = await rates()
      return [acceptedPerMinute, refusedPerMinute]
    },
  }
}

test('in the first minute the rates cover all reports so far', async () => {
  const { count, at } = measured()
  expect(await at(0)).toEqual([0, 0])
  count('accepted', 5)
  expect(await at(1)).toEqual([5, 0])
  count('accepted', 5)
  count('INVALID_PARAMS', 2)
  expect(await at(50)).toEqual([10, 2])
})

test('later the rates cover the reports of the last 60 s', async () => {
  const { count, at } = measured()
  for (let second = 0; second <= 600; second += 10) {
    const told = await at(second)
    const tens = Math.min(6, second / 10)
    expect(told).toEqual([tens * 7, tens * 3])
    count('accepted', 7)
    count('RATE_LIMITED', 3)
  }
  expect(await at(610)).toEqual([42, 18])
  expect(await at(620)).toEqual([35, 15])
})

test('counts of more than a minute are scaled to a minute', async () => {
  const { count, at } = measured()
  count('accepted', 100)
  expect(await at(10)).toEqual([100, 0])
  count('accepted', 300)
  expect(await at(130)).toEqual([150, 0])
  expect(await at(140)).toEqual([138, 0])
  expect(await at(190)).toEqual([0, 0])
})

test('every refusal counts, but no failure on our side', async () => {
  const { count, at } = measured()
  for (const outcome of ['UNAUTHORIZED', 'FORBIDDEN', 'PAYLOAD_TOO_LARGE']) count(outcome, 1)
  for (const outcome of ['SERVICE_UNAVAILABLE', 'SERVER_ERROR']) count(outcome, 1)
  expect(await at(10)).toEqual([0, 3])
})
