import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { DatabaseSync } from '@photostructure/sqlite'
import { startEmbedded, startProgram, temporaryDirectory, type Embedded } from '../programs.ts'
import { eventually } from '../eventually.ts'

const REPORT = { deviceId: 'tracker-1', latitude: 52.5, longitude: 13.4 }

let directory: Awaited<ReturnType<typeof temporaryDirectory>>
let running: Embedded | undefined

beforeEach(async () => {
  directory = await temporaryDirectory()
})

afterEach(async () => {
  running?.process.kill('SIGKILL')
  await running?.ended
  running = undefined
  await directory.remove()
})

test('the data are for the eyes of their owner alone, also those that were there before', async () => {
  const data = join(directory.path, 'data')
  mkdirSync(data)
  writeFileSync(join(data, 'copy-of-log.sqlite'), '')
  chmodSync(data, 0o755)
  chmodSync(join(data, 'copy-of-log.sqlite'), 0o644)
  running = await startEmbedded(data)
  await report(running)
  expect(mode(data)).toBe('700')
  const names = readdirSync(data)
  expect(names).toEqual(expect.arrayContaining(['log.sqlite-wal', 'copy-of-log.sqlite']))
  expect(names.map((name) => [name, mode(join(data, name))])).toEqual(
    names.map((name) => [name, '600']),
  )
}, 90_000)

test('either API tells the metrics of both threads, none of them twice', async () => {
  running = await startEmbedded(directory.path)
  await report(running)
  for (const url of [running.ingestUrl, running.adminUrl]) {
    const lines = await eventually(async () => {
      const all = await metricsOf(url)
      return all.get('gps_projected_events_total{outcome="stored"}') === '1' && all
    })
    expect(lines.get('gps_reports_total{outcome="accepted"}')).toBe('1')
    const series = [...lines.keys()]
    expect(series.filter((name) => name.startsWith('gps_ready'))).toHaveLength(2)
    expect(lines.get(series.find((name) => name.startsWith('gps_build_info')) ?? '')).toBe('1')
    expect(series.filter((name) => name.startsWith('process_'))).toEqual(
      expect.arrayContaining(['process_resident_memory_bytes', 'process_start_time_seconds']),
    )
    expect(series.filter((name) => /^process_.*thread/.test(name))).toEqual([])
    expect(series.filter((name) => name.startsWith('nodejs_heap_size_total_bytes'))).toHaveLength(2)
  }
}, 90_000)

test('a worker thread that cannot start ends the process with a non-zero code', async () => {
  running = await startEmbedded(directory.path)
  running.process.kill('SIGTERM')
  expect(await running.ended).toBe(0)
  const accounts = new DatabaseSync(join(directory.path, 'accounts.sqlite'))
  accounts.exec('PRAGMA user_version = 99')
  accounts.close()
  const program = startProgram('embedded/main', {
    env: { DATA_DIR: directory.path, INGEST_PORT: '0', ADMIN_PORT: '0' },
  })
  expect(await program.ended).toBe(1)
  expect(program.output()).toMatch(/"level":60.*written by a newer version/)
}, 90_000)

async function report({ ingestUrl, output }: Embedded): Promise<void> {
  const key = await eventually(() => /gps_[0-9A-Za-z]{38}/.exec(output())?.[0])
  const answer = await fetch(`${ingestUrl}/api/v1/gps/submit`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(REPORT),
  })
  expect(answer.status).toBe(200)
}

/** What each series is told to be; fails where one is told twice. */
async function metricsOf(url: string): Promise<ReadonlyMap<string, string>> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const told = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const series = new Map(told.map((line) => line.split(/ (?=\S+$)/) as [string, string]))
  expect(series.size).toBe(told.length)
  return series
}

function mode(path: string): string {
  return (statSync(path).mode & 0o777).toString(8)
}
