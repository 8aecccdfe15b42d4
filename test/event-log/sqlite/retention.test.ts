import { expect, test } from '@jest/globals'
import type { TailItem } from '../../../event-log/event-log.ts'
import { positionReported, T0 } from '../../samples.ts'
import {
  DAY_MS,
  events,
  kinds,
  logFilesForEachTest,
  putRow,
  readAll,
  readTail,
} from './log-files.ts'

const files = logFilesForEachTest()

test('trimming removes events received before the time, and no offset is reused', async () => {
  const log = files.open()
  await log.append(events(3, { receivedAt: T0 }))
  await log.trim(T0 + 1)
  expect(await readAll(log)).toEqual([])
  const next = positionReported({ receivedAt: T0 + 1 })
  await log.append([next])
  await log.trim(T0 + 1)
  expect(await readAll(log)).toEqual([
    { kind: 'position', origin: { partition: 0, offset: 4 }, event: next },
  ])
  await log.trim(T0 - DAY_MS)
  expect(await readAll(log)).toHaveLength(1)
})

test('trimming stops at the first remaining event, however many chunks precede it', async () => {
  const log = files.open()
  const old = { receivedAt: T0 }
  await log.append(events(2500, old))
  const kept = [positionReported({ receivedAt: T0 + DAY_MS }), positionReported(old)]
  await log.append(kept)
  await log.trim(T0 + 1)
  expect((await readAll(log)).map(({ origin }) => origin.offset)).toEqual([2501, 2502])
  await log.append(events(1))
  expect(await readAll(log)).toHaveLength(3)
})

test('trimming removes the dead letters of removed events', async () => {
  const log = files.open()
  for (const receivedAt of [T0, T0 + DAY_MS])
    putRow(files.file, { value: Buffer.from('?'), receivedAt })
  const unreadable = (await readAll(log)).flatMap((e) => (e.kind === 'unreadable' ? [e] : []))
  await log.deadLetters.append(unreadable)
  expect(await log.deadLetters.count()).toBe(2)
  await log.trim(T0 + 1)
  expect(await log.deadLetters.count()).toBe(1)
})

test('a tail from before the trim mark starts with one gap', async () => {
  const log = files.open()
  await log.append(events(3, { receivedAt: T0 }))
  await log.append(events(2))
  await log.trim(T0 + 1)
  expect(kinds(await readTail(log, { 0: 1 }, 2))).toEqual(['gap', '4 5'])
  expect(kinds(await readTail(log, {}, 2))).toEqual(['gap', '4 5'])
  expect(kinds(await readTail(log, { 0: 3 }, 1))).toEqual(['4 5'])
})

test('a slow tail that retention overtakes gets a gap', async () => {
  const log = files.open()
  await log.append(events(501, { receivedAt: T0 }))
  const stop = new AbortController()
  const tail = log.tail({ after: {}, signal: stop.signal })[Symbol.asyncIterator]()
  const first = (await tail.next()).value as TailItem
  expect(first).toMatchObject({ kind: 'batch', lastOffset: 500 })
  await log.append(events(1))
  await log.trim(T0 + 1)
  expect((await tail.next()).value).toEqual({ kind: 'gap', partition: 0, after: 501 })
  expect((await tail.next()).value).toMatchObject({ kind: 'batch', lastOffset: 502 })
  stop.abort()
  expect(await tail.next()).toEqual({ done: true, value: undefined })
})

test('trimmed events do not count as lag', async () => {
  const log = files.open()
  await log.append(events(3, { receivedAt: T0 }))
  await log.append(events(2, { receivedAt: files.clock.time - 5000 }))
  await log.trim(T0 + 1)
  expect(await log.lag('projector')).toEqual({ events: 2, seconds: 5 })
})
