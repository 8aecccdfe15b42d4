import { expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { keepAwake } from '../../bench/keep-awake.ts'
import { eventually } from '../eventually.ts'

test('processors are kept awake by loops that every other thread displaces, until they are let go', async () => {
  const letSleep = keepAwake()
  try {
    await eventually(() => idleLoops() === availableParallelism())
  } finally {
    letSleep()
  }
  await eventually(() => idleLoops() === 0)
  expect(idleLoops()).toBe(0)
})

function idleLoops(): number {
  const children = execFileSync('ps', ['-eo', 'ppid=,cls=,args='], { encoding: 'utf8' })
  const own = children.split('\n').map((line) => line.trim().split(/\s+/))
  return own.filter(([parent, policy]) => parent === String(process.pid) && policy === 'IDL').length
}
