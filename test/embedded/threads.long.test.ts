import { get, type IncomingMessage } from 'node:http'
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { DatabaseSync } from '@photostructure/sqlite'
import { openSqliteEventLog } from '../../event-log/sqlite/sqlite-event-log.ts'
import { adminReader } from '../admin-reader.ts'
import { submitTo } from '../deployments.ts'
import { positionReported } from '../samples.ts'
import { startProgram, type Embedded } from '../programs.ts'
import { embeddedSuite } from '../embedded-suite.ts'
import { eventually } from '../eventually.ts'

const REPORT = { deviceId: 'tracker-1', latitude: 52.5, longitude: 13.4 }

const embedded = embeddedSuite()

test('data files, including existing ones, are readable only by their owner', async () => {
  const data = join(embedded.path, 'data')
  mkdirSync(data)
  writeFileSync(join(data, 'copy-of-log.sqlite'), '')
  chmodSync(data, 0o755)
  chmodSync(join(data, 'copy-of-log.sqlite'), 0o644)
  const running = await embedded.start({}, data)
  await report(running)
  expect(mode(data)).toBe('700')
  const names = readdirSync(data)
  expect(names).toEqual(expect.arrayContaining(['log.sqlite-wal', 'copy-of-log.sqlite']))
  expect(names.map((name) => [name, mode(join(data, name))])).toEqual(
    names.map((name) => [name, '600']),
  )
})

test('each API exports the metrics of both threads, without duplicates', async () => {
  const running = await embedded.start()
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
})

test('a worker thread that cannot start ends the process with a non-zero code', async () => {
  const running = await embedded.start()
  running.process.kill('SIGTERM')
  expect(await running.ended).toBe(0)
  const accounts = new DatabaseSync(join(embedded.path, 'accounts.sqlite'))
  accounts.exec('PRAGMA user_version = 99')
  accounts.close()
  const program = startProgram('embedded/main', {
    env: { DATA_DIR: embedded.path, INGEST_PORT: '0', ADMIN_PORT: '0' },
  })
  expect(await program.ended).toBe(1)
  expect(program.output()).toMatch(/"level":60.*another version of the program wrote it/)
})

test('a worker thread that ends by itself ends the process with a non-zero code', async () => {
  const sign = join(embedded.path, 'end-the-worker')
  const endsOnSign = `import { existsSync } from 'node:fs'
    import { isMainThread } from 'node:worker_threads'
    const end = () => existsSync(${JSON.stringify(sign)}) && process.exit(0)
    if (!isMainThread) setInterval(end, 20)`
  const running = await embedded.start(
    { NODE_OPTIONS: imported(endsOnSign) },
    join(embedded.path, 'data'),
  )
  writeFileSync(sign, '')
  expect(await running.ended).toBe(1)
  expect(running.output()).toMatch(/"level":60.*the worker thread has ended with code 0/)
})

test('data with a retention cannot be opened without RETENTION_DAYS', async () => {
  const running = await embedded.start({ RETENTION_DAYS: '30' })
  running.process.kill('SIGTERM')
  expect(await running.ended).toBe(0)
  const refused = startProgram('embedded/main', {
    env: { DATA_DIR: embedded.path, INGEST_PORT: '0', ADMIN_PORT: '0' },
  })
  expect(await refused.ended).toBe(1)
  expect(refused.output()).toMatch(/"level":60.*for 30 days.* RETENTION_DAYS=off/)
})

test('SIGTERM while an export goes out to a slow reader ends the process with code 0', async () => {
  const running = await embedded.start({ SHUTDOWN_DEADLINE_MS: '2000' })
  const key = await report(running)
  const deviceId = 'long-way-'.repeat(14)
  await appendPositions(deviceId, 40_000)
  const api = adminReader({ adminUrl: running.adminUrl, key })
  await eventually(async () => (await api.device(deviceId)).reportCount === 40_000, {
    withinMs: 60_000,
  })
  const url = `${running.adminUrl}/api/v1/devices/${deviceId}/positions?format=ndjson`
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers: { Authorization: `Bearer ${key}` } }, resolve).on('error', reject)
  })
  expect(answer.statusCode).toBe(200)
  // None of it is read, so it cannot finish.
  running.process.kill('SIGTERM')
  expect(await running.ended).toBe(0)
  answer.on('error', () => undefined)
  answer.resume()
  await new Promise((resolve) => answer.once('close', resolve))
  expect(answer.complete).toBe(false)
})

/** Appends positions of the account that has already reported directly to the log. */
async function appendPositions(deviceId: string, count: number): Promise<void> {
  const file = join(embedded.path, 'log.sqlite')
  const database = new DatabaseSync(file, { readOnly: true })
  const { value } = database.prepare('SELECT value FROM events').get() as { value: Uint8Array }
  database.close()
  const { accountId } = JSON.parse(Buffer.from(value).toString()) as { accountId: string }
  const log = openSqliteEventLog({ file, clock: { now: () => Date.now() } })
  const now = Date.now()
  for (let at = 0; at < count; at += 1_000) {
    const some = Array.from({ length: 1_000 }, (_unused, index) =>
      positionReported({ accountId, deviceId, timestamp: now - at - index, receivedAt: now }),
    )
    await log.append(some)
  }
  await log.close()
}

async function report({ ingestUrl, output }: Embedded): Promise<string> {
  const key = await eventually(() => /gps_[0-9A-Za-z]{38}/.exec(output())?.[0])
  expect((await submitTo(ingestUrl, key, REPORT)).status).toBe(200)
  return key
}

/** For NODE_OPTIONS: the program loads this module first. */
function imported(module: string): string {
  return `--import data:text/javascript,${encodeURIComponent(module)}`
}

/** The value of each series; fails if a series appears twice. */
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
