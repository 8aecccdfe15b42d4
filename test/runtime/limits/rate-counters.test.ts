import { expect, jest, test } from '@jest/globals'
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { memoryRateCounters } from '../../../runtime/limits/rate-counters.ts'
import { fakeTimers } from '../../fake-timers.ts'

const execute = promisify(execFile)

test('a counter counts for its window and then restarts', async () => {
  fakeTimers('performance')
  const counters = memoryRateCounters({ seconds: 1 })
  expect(await counters.get('a')).toBeUndefined()
  await counters.add('a', 2)
  const { consumedPoints, msBeforeNext } = await counters.add('a', 3)
  expect(consumedPoints).toBe(5)
  expect(msBeforeNext).toBe(1_000)
  expect(await counters.get('a')).toMatchObject({ consumedPoints: 5 })
  expect((await counters.add('b', 1)).consumedPoints).toBe(1)
  jest.advanceTimersByTime(999)
  expect(await counters.get('a')).toMatchObject({ msBeforeNext: 1 })
  jest.advanceTimersByTime(1)
  expect(await counters.get('a')).toBeUndefined()
  expect((await counters.add('a', 1)).consumedPoints).toBe(1)
  jest.useRealTimers()
})

test('the number of counters is limited; the oldest windows are dropped first', async () => {
  const counters = memoryRateCounters({ seconds: 60, kept: 3 })
  for (const name of ['a', 'b', 'c', 'a', 'd']) await counters.add(name, 1)
  expect(await counters.get('a')).toBeUndefined()
  for (const name of ['b', 'c', 'd']) {
    expect(await counters.get(name)).toMatchObject({ consumedPoints: 1 })
  }
})

test('the default limit is a hundred thousand counters', async () => {
  const counters = memoryRateCounters({ seconds: 3600 })
  for (let n = 0; n <= 100_000; n += 1) await counters.add(`acc-1/device-${n}`, 1)
  expect(await counters.get('acc-1/device-0')).toBeUndefined()
  expect(await counters.get('acc-1/device-1')).toBeDefined()
})

/** In a separate process, where nothing else uses memory. */
const A_MILLION_DEVICES = `
  import { memoryRateCounters } from './runtime/limits/rate-counters.ts'
  const used = () => (gc(), process.memoryUsage().heapUsed / 1024 / 1024)
  const before = used()
  const unused = Array.from({ length: 100 }, () => memoryRateCounters({ seconds: 3600 }))
  const opened = used() - before
  const counters = memoryRateCounters({ seconds: 3600, kept: 10_000 })
  const add = async (from, to) => {
    for (let n = from; n < to; n += 1) await counters.add('acc-1/device-' + n, 1)
  }
  const isKept = async (n) => (await counters.get('acc-1/device-' + n)) !== undefined
  const empty = used()
  await add(0, 10_000)
  const full = used()
  await add(10_000, 1_000_000)
  const kept = [await isKept(989_999), await isKept(990_000)]
  console.log(JSON.stringify({ opened, first: full - empty, further: used() - full, kept }))
  console.assert(unused.length === 100)
  process.exit()
`

test('counters use memory only when used, and a million devices use no more than the maximum of counters', async () => {
  const typescript = ['--import', './bench/typescript.mjs', '--input-type=module']
  const { stdout } = await execute(
    process.execPath,
    ['--expose-gc', ...typescript, '--eval', A_MILLION_DEVICES],
    { cwd: fileURLToPath(new URL('../../..', import.meta.url)) },
  )
  const { opened, first, further, kept } = JSON.parse(stdout) as Record<
    'opened' | 'first' | 'further',
    number
  > & { kept: boolean[] }
  expect(opened).toBeLessThan(4)
  expect(first).toBeLessThan(4)
  expect(further).toBeLessThan(4)
  expect(kept).toEqual([false, true])
})
