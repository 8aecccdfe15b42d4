/** @node all */
import { expect, test } from '@jest/globals'
import { awaitFor } from '../../runtime/clock.ts'

const late = () => new Error('late')
const never = new Promise<void>(() => undefined)

test('work beyond its deadline is abandoned', async () => {
  await expect(awaitFor(1, never, late)).rejects.toThrow('late')
})

test('a pending time limit does not keep a process running', () => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
  const before = timers()
  awaitFor(60_000, never, late).catch(() => undefined)
  expect(timers()).toBe(before)
})
