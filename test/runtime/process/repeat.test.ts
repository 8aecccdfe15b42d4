import { expect, test } from '@jest/globals'
import { backOff } from '../../../runtime/process/repeat.ts'

async function took(work: () => Promise<void>): Promise<number> {
  const from = performance.now()
  await work()
  return performance.now() - from
}

test('pauses grow up to the longest', async () => {
  const pauses = backOff({ firstMs: 40, longestMs: 160 })
  const growing = [
    await took(() => pauses.pause()),
    await took(() => pauses.pause()),
    await took(() => pauses.pause()),
    await took(() => pauses.pause()),
  ]
  for (const [turn, least] of [20, 40, 80, 80].entries()) {
    expect(growing[turn]).toBeGreaterThanOrEqual(least - 2)
  }
})

test('pauses are short again after a success', async () => {
  // After this many it would be half an hour.
  const pauses = backOff({ firstMs: 20, longestMs: 3_600_000 })
  for (let turn = 0; turn < 20; turn += 1) await pauses.pause(AbortSignal.abort())
  pauses.reset()
  await pauses.pause()
})

test('aborting its signal ends a pause immediately', async () => {
  const ending = new AbortController()
  const pauses = backOff({ firstMs: 3_600_000, longestMs: 3_600_000 })
  const pausing = pauses.pause(ending.signal)
  ending.abort()
  await pausing
})
