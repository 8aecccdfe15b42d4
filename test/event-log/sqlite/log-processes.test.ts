import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeAll, expect, test } from '@jest/globals'
import { recordId } from '../../contracts/event-log-suite.ts'
import { eventually } from '../../eventually.ts'
import { positionReported } from '../../samples.ts'
import { events, logFilesForEachTest, readAll, readTail } from './log-files.ts'

const BUILD = fileURLToPath(new URL('../../../scripts/build.mjs', import.meta.url))
const COMPILED = new URL('../../../dist/event-log/sqlite/sqlite-event-log.js', import.meta.url).href

const children: ChildProcess[] = []

// Other processes run the compiled program; this does nothing if it is up to date.
beforeAll(() => promisify(execFile)(process.execPath, [BUILD]), 120_000)

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

const files = logFilesForEachTest()

test('events that another process appends to the file arrive', async () => {
  const log = files.open()
  const stop = new AbortController()
  const arrived: (string | undefined)[] = []
  const subscription = log.subscribe({
    group: 'projector',
    onBatch: async ({ entries }) => void arrived.push(...entries.map(recordId)),
    signal: stop.signal,
  })
  const tailed = readTail(log, 'end', 1)
  const writer = startWriter({ appends: 20 })
  const mine = events(20)
  for (const event of mine) await log.append([event])
  await writer.ended
  await eventually(() => arrived.length >= 40)
  expect(new Set(arrived)).toEqual(
    new Set([...mine.map((event) => event.recordId), ...writer.acknowledged]),
  )
  expect((await tailed).length).toBe(1)
  stop.abort()
  await subscription
})

test('every acknowledged event is in the log after kill -9, once and in order', async () => {
  const acknowledged: string[] = []
  for (let round = 0; round < 3; round += 1) {
    const writer = startWriter({ appends: Infinity })
    await eventually(() => writer.acknowledged.length >= 50 + 70 * round)
    writer.child.kill('SIGKILL')
    await writer.ended
    acknowledged.push(...writer.acknowledged)
  }
  const stored = (await readAll(files.open())).map(recordId)
  expect(new Set(stored).size).toBe(stored.length)
  const known = new Set(acknowledged)
  expect(stored.filter((id) => known.has(id!))).toEqual(acknowledged)
})

test('programs that open a new file at the same time all succeed', async () => {
  const writers = Array.from({ length: 4 }, () => startWriter({ appends: 5 }))
  expect(await Promise.all(writers.map(({ ended }) => ended))).toEqual([0, 0, 0, 0])
  expect(await readAll(files.open())).toHaveLength(20)
})

/** Another process that appends to the file and prints what was acknowledged. */
function startWriter({ appends }: { appends: number }) {
  const program = `
    const { openSqliteEventLog } = await import(${JSON.stringify(COMPILED)})
    const { writeSync } = await import('node:fs')
    const { randomUUID } = await import('node:crypto')
    const log = openSqliteEventLog({ file: process.argv[1], clock: { now: Date.now } })
    const event = ${JSON.stringify(positionReported())}
    for (let append = 0; append < Number(process.argv[2]); append += 1) {
      const recordId = '0' + randomUUID().replaceAll('-', '').slice(0, 25).toUpperCase()
      await log.append([{ ...event, recordId }])
      writeSync(1, recordId + '\\n')
    }
    await log.close()`
  const child = spawn(
    process.execPath,
    ['--input-type=module', '-e', program, files.file, String(appends)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  children.push(child)
  const acknowledged: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => acknowledged.push(line))
  // Listens from here on: it may end while the test is busy.
  const ended = once(child, 'close').then(([code]) => code as number | null)
  return { child, acknowledged, ended }
}
