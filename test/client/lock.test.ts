import { spawn } from 'node:child_process'
import { readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeEach, expect, test } from '@jest/globals'
import { lock } from '../../client/lock.ts'
import { realTiming } from '../../client/timing.ts'
import { endedWithTheTests } from '../running-programs.ts'
import { directoryForEachTest } from '../directory-for-each-test.ts'
import { jumpingTiming } from './stand-in-service.ts'

const directory = directoryForEachTest()
let file: string

beforeEach(() => {
  file = join(directory(), 'queue')
})

/**
 * A lock from another container, where the program has process id 1 or the same id as this process.
 */
async function lockElsewhere(pid: number): Promise<string> {
  const name = `${file}.lock.elsewhere`
  await writeFile(name, JSON.stringify({ pid, start: '1', where: 'another container' }))
  return name
}

test('a file of a live process in another container stays locked, regardless of the process id', async () => {
  const name = await lockElsewhere(process.pid)
  let seconds = 0
  const beat = setInterval(() => {
    utimes(name, (seconds += 1), seconds).catch(() => clearInterval(beat))
  }, 50)
  await expect(lock(file, realTiming)).rejects.toThrow(`in use by process ${process.pid}`)
  clearInterval(beat)
  expect(await readdir(directory())).toEqual(['queue.lock.elsewhere'])
})

test('a lock whose process in another container is silent for 20 s is taken over', async () => {
  await lockElsewhere(1)
  const timing = jumpingTiming()
  const held = await lock(file, timing)
  expect(timing.pauses.reduce((sum, ms) => sum + ms, 0)).toBe(20_000)
  await held.release()
  expect(await readdir(directory())).toEqual([])
})

const onLinux = process.platform === 'linux' ? test : test.skip

onLinux('a process that ended is not taken for another that has its id now', async () => {
  const running = await lock(file, realTiming)
  const name = join(directory(), (await readdir(directory()))[0] ?? '')
  const owner = JSON.parse(await readFile(name, 'utf8')) as object
  await running.release()
  await writeFile(name, JSON.stringify({ ...owner, pid: process.ppid, start: 'before' }))
  const timing = jumpingTiming()
  await (await lock(file, timing)).release()
  expect(timing.pauses).toEqual([])
})

test('only one of two processes gets a lock left by an ended process', async () => {
  const takers = await Promise.all([taker(), taker()])
  let taken = 0
  for (let round = 0; round < 15; round += 1) {
    await writeFile(`${file}.lock`, '999999999')
    const answers = await Promise.all(takers.map((ask) => ask('take')))
    const got = answers.filter((answer) => answer === 'taken')
    expect(got.length).toBeLessThan(2)
    taken += got.length
    await Promise.all(takers.map((ask) => ask('let go')))
  }
  expect(taken).toBeGreaterThan(10)
})

/** A process that locks the file and releases it on request. */
async function taker(): Promise<(request: 'take' | 'let go') => Promise<string>> {
  const child = spawn(
    process.execPath,
    ['--import', './bench/typescript.mjs', 'test/client/take-lock.ts', file],
    { cwd: fileURLToPath(new URL('../..', import.meta.url)) },
  )
  endedWithTheTests(child)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const answer = async () => String((await lines.next()).value)
  expect(await answer()).toBe('ready')
  return (request) => {
    child.stdin.write(`${request}\n`)
    return answer()
  }
}
