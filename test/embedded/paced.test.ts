import { expect, test } from '@jest/globals'
import { setTimeout as pause } from 'node:timers/promises'
import { paced } from '../../embedded/paced.ts'
import { eventually } from '../eventually.ts'

test('what is told often is told at once, then at its pace, and the last of it too', async () => {
  const told: number[] = []
  let said = 0
  const tell = paced(20, () => told.push(said))
  const started = performance.now()
  while (performance.now() - started < 100) {
    said += 1
    tell()
    await pause(1)
  }
  expect(told[0]).toBe(1)
  expect(told.length).toBeLessThanOrEqual(7)
  await eventually(() => told.at(-1) === said)
})
