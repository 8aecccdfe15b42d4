import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { unreadableEntries } from '../../../event-log/reading/ring.ts'

beforeEach(() => {
  jest.useFakeTimers()
})
afterEach(() => {
  jest.useRealTimers()
})

function start() {
  const gaps: object[] = []
  const logged: object[] = []
  const ending = new AbortController()
  const unreadable = unreadableEntries({
    everyMs: 300,
    push: (gap) => gaps.push(gap),
    logger: { warn: (fields) => logged.push(fields) },
    signal: ending.signal,
  })
  const entry = (offset: number) => {
    const origin = { partition: 0, offset }
    unreadable({ kind: 'unreadable', origin, reason: 'it is Avro', key: null, value: null })
  }
  return { entry, gaps, logged, end: () => ending.abort() }
}

const AT = (offset: number) => ({ origin: { partition: 0, offset } })

test('readers learn of the first unreadable entry immediately, and of later ones together', () => {
  const { entry, gaps, logged } = start()
  for (const offset of [1, 2, 3]) entry(offset)
  expect(gaps).toEqual([{ kind: 'gap', reason: 'unreadable', ...AT(1) }])
  expect(logged).toMatchObject([{ count: 1, ...AT(1) }])
  jest.advanceTimersByTime(299)
  expect(gaps).toHaveLength(1)
  jest.advanceTimersByTime(1)
  expect(gaps.slice(1)).toEqual([{ kind: 'gap', reason: 'unreadable' }])
  expect(logged.slice(1)).toMatchObject([{ count: 2, ...AT(3) }])
})

test('continuing unreadable entries are announced once in each interval', () => {
  const { entry, gaps, logged } = start()
  for (let offset = 0; offset < 30; offset += 1) {
    entry(offset)
    jest.advanceTimersByTime(100)
  }
  expect(gaps).toHaveLength(1 + 10)
  expect(logged).toHaveLength(1 + 10)
})

test('an unreadable entry after a quiet interval is announced immediately', () => {
  const { entry, gaps } = start()
  entry(1)
  jest.advanceTimersByTime(1_000)
  expect(gaps).toHaveLength(1)
  entry(2)
  expect(gaps.slice(1)).toEqual([{ kind: 'gap', reason: 'unreadable', ...AT(2) }])
})

test('an ended feed announces nothing more', () => {
  const { entry, gaps, end } = start()
  for (const offset of [1, 2]) entry(offset)
  end()
  jest.advanceTimersByTime(1_000)
  expect(gaps).toHaveLength(1)
})
