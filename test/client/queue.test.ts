import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test } from '@jest/globals'
import { openQueue, type OfflineQueue, type QueueOptions } from '../../client/queue.ts'
import type { ReportRefusal, Report } from '../../client/report.ts'
import { closeAfterwards } from '../closing.ts'
import { eventually } from '../eventually.ts'
import { directoryForEachTest } from '../directory-for-each-test.ts'
import {
  jumpingTiming,
  refused,
  standInService,
  type Received,
  type Reply,
} from './stand-in-service.ts'

const directory = directoryForEachTest()
let file: string

beforeEach(() => {
  file = join(directory(), 'queue')
})

const place = { deviceId: 'van 7', latitude: 48.2, longitude: 16.3 }
const at = (n: number): Report => ({
  ...place,
  timestamp: new Date(Date.UTC(2026, 0, 1) + n).toISOString(),
})
const accepted = { recordId: 'R1', receivedAt: '2026-01-31T12:30:01.000Z' }

function reportsIn({ body }: Received): Report[] {
  return (JSON.parse(body) as { reports: Report[] }).reports
}

/** A result for each report, computed by a function. */
function results(request: Received, result: (report: Report) => object = () => accepted): Reply {
  return { status: 200, data: { success: true, data: { results: reportsIn(request).map(result) } } }
}

async function queue(
  reply: (request: Received, index: number) => Reply | Promise<Reply> = (request) =>
    results(request),
  options: Partial<QueueOptions> = {},
) {
  const standIn = await standInService(reply)
  const timing = jumpingTiming()
  const refusals: { report: Report; refusal: ReportRefusal }[] = []
  const troubles: string[] = []
  const open = async (): Promise<OfflineQueue> => {
    const opened = await openQueue({
      url: standIn.url,
      key: 'k',
      file,
      timing,
      onRefused: (report, refusal) => void refusals.push({ report, refusal }),
      onTrouble: (reason) => troubles.push(reason),
      ...options,
    })
    closeAfterwards(() => opened.close())
    return opened
  }
  return { queue: await open(), open, ...standIn, timing, refusals, troubles }
}

test('an offline queue sends added reports in batches with the key; then its file is empty', async () => {
  const { queue: sent, received } = await queue()
  await Promise.all(Array.from({ length: 700 }, (_, n) => sent.add(at(n))))
  await sent.drained()
  expect(sent.size).toBe(0)
  expect(new Set(received.map(({ path, key }) => `${path} ${key}`))).toEqual(
    new Set(['/api/v1/gps/batch Bearer k']),
  )
  expect(received.length).toBeLessThan(20)
  expect(received.flatMap(reportsIn)).toEqual(Array.from({ length: 700 }, (_, n) => at(n)))
  expect(await readFile(file, 'utf8')).toBe('')
})

test('a report is on disk once added to a queue', async () => {
  const { queue: sent } = await queue(() => 'hang-up')
  await sent.add(at(1))
  expect(readFileSync(file, 'utf8')).toBe(`${JSON.stringify(at(1))}\n`)
})

test('a report without a timestamp gets the time of adding', async () => {
  const {
    queue: sent,
    received,
    timing,
  } = await queue((request, index) =>
    index === 0 ? refused(503, 'SERVICE_UNAVAILABLE', { 'Retry-After': '60' }) : results(request),
  )
  const before = timing.now()
  await sent.add(place)
  await sent.drained()
  const [first, second] = received.flatMap(reportsIn)
  expect(second).toEqual(first)
  expect(Date.parse(first?.timestamp ?? '')).toBeGreaterThanOrEqual(Math.floor(before))
  expect(Date.parse(first?.timestamp ?? '')).toBeLessThan(before + 20_000)
})

test('nothing is lost while the service is unavailable or slow, or a foreign server responds', async () => {
  const answers: Reply[] = [
    'hang-up',
    refused(503, 'SERVICE_UNAVAILABLE', { 'Retry-After': '7' }),
    refused(401, 'UNAUTHORIZED'),
    { status: 404 },
    { status: 200, data: { welcome: 'to our hotel' } },
    { status: 302, headers: { Location: '/sign-in' } },
  ]
  const {
    queue: sent,
    received,
    timing,
    troubles,
  } = await queue((request, index) => answers[index] ?? results(request))
  await sent.add(at(1))
  await sent.drained()
  expect(received.map(reportsIn)).toEqual(Array(7).fill([at(1)]))
  expect(timing.pauses).toEqual([450, 7_250, 1_050, 1_850, 3_450, 6_650])
  expect(troubles).toHaveLength(6)
  expect(troubles[2]).toContain('UNAUTHORIZED')
})

test('a rejected report is announced and leaves the queue without delaying others', async () => {
  const {
    queue: sent,
    received,
    refusals,
  } = await queue((request) =>
    results(request, ({ timestamp }) =>
      timestamp === at(1).timestamp ? { error: 'INVALID_PARAMS', message: 'no' } : accepted,
    ),
  )
  await Promise.all([0, 1, 2].map((n) => sent.add(at(n))))
  await sent.drained()
  expect(refusals).toEqual([{ report: at(1), refusal: { error: 'INVALID_PARAMS', message: 'no' } }])
  expect(received.flatMap(reportsIn).filter((one) => one.timestamp === at(1).timestamp)).toEqual([
    at(1),
  ])
})

test('of a batch rejected as a whole, only the invalid report is dropped', async () => {
  const { queue: sent, refusals } = await queue((request) =>
    reportsIn(request).some(({ timestamp }) => timestamp === at(13).timestamp)
      ? refused(400, 'INVALID_PARAMS')
      : results(request),
  )
  await Promise.all(Array.from({ length: 50 }, (_, n) => sent.add(at(n))))
  await sent.drained()
  expect(refusals.map(({ report }) => report)).toEqual([at(13)])
})

test('a batch too large for a proxy is split, and no report is rejected for it', async () => {
  const {
    queue: sent,
    refusals,
    received,
  } = await queue((request) => (reportsIn(request).length > 3 ? { status: 413 } : results(request)))
  await Promise.all(Array.from({ length: 20 }, (_, n) => sent.add(at(n))))
  await sent.drained()
  const taken = received.map(reportsIn).filter(({ length }) => length <= 3)
  expect(taken.flat()).toEqual(Array.from({ length: 20 }, (_, n) => at(n)))
  expect(refusals).toEqual([])
})

test('a single report too large for a proxy stays queued and is resent', async () => {
  const {
    queue: sent,
    refusals,
    troubles,
  } = await queue((request, index) => (index < 2 ? { status: 413 } : results(request)))
  await sent.add(at(1))
  await sent.drained()
  expect(refusals).toEqual([])
  expect(troubles).toHaveLength(2)
})

test('a rejection is announced again until its handler succeeds', async () => {
  let told = 0
  const { queue: sent } = await queue(
    (request) => results(request, () => ({ error: 'INVALID_PARAMS', message: 'no' })),
    {
      async onRefused() {
        told += 1
        if (told < 3) throw new Error('disk full')
      },
    },
  )
  await sent.add(at(1))
  await sent.drained()
  expect(told).toBe(3)
})

test('reports that may be accepted later wait behind those accepted now', async () => {
  let limited = 3
  const { queue: sent, received } = await queue((request) =>
    results(request, ({ timestamp }) =>
      timestamp === at(0).timestamp && (limited -= 1) >= 0
        ? { error: 'RATE_LIMITED', message: 'slowly' }
        : accepted,
    ),
  )
  await Promise.all([0, 1].map((n) => sent.add(at(n))))
  await sent.drained()
  const times = received.flatMap(reportsIn).map(({ timestamp }) => timestamp)
  expect(times.filter((time) => time === at(0).timestamp)).toHaveLength(4)
  expect(times.filter((time) => time === at(1).timestamp)).toHaveLength(1)
})

test('undelivered reports are still queued when the file is reopened', async () => {
  let isAway = true
  const {
    queue: before,
    open,
    received,
  } = await queue((request) => (isAway ? 'hang-up' : results(request)))
  await before.add(at(1))
  await before.add(at(2))
  const end = before.drained()
  await before.close()
  await expect(end).rejects.toThrow('closed')
  await expect(before.add(at(3))).rejects.toThrow('closed')
  isAway = false
  received.length = 0
  const after = await open()
  expect(after.size).toBe(2)
  await after.drained()
  expect(received.flatMap(reportsIn)).toEqual([at(1), at(2)])
})

test('draining a queue waits for reports still being written', async () => {
  const { queue: sent, received } = await queue()
  const added = sent.add(at(1))
  // By now it is being written.
  await Promise.resolve()
  await sent.drained()
  expect(received.flatMap(reportsIn)).toEqual([at(1)])
  await added
})

test('draining a closed queue fails, unless it is empty', async () => {
  const { queue: left } = await queue(() => 'hang-up')
  await left.add(at(1))
  await left.close()
  await expect(left.drained()).rejects.toThrow('closed')
  file = join(directory(), 'other')
  const { queue: empty } = await queue()
  await empty.close()
  await empty.drained()
})

test('a request in flight does not delay its end', async () => {
  const { queue: sent, received } = await queue(() => new Promise<Reply>(() => undefined))
  await sent.add(at(1))
  await eventually(() => received.length === 1)
  await sent.close()
})

test("a file belongs to one queue at a time; a killed process's file is taken over", async () => {
  const { queue: sent, open } = await queue()
  await expect(open()).rejects.toThrow('already open')
  await sent.close()
  await writeFile(`${file}.lock`, String(process.ppid))
  await expect(open()).rejects.toThrow(`in use by process ${process.ppid}`)
  const { pid } = spawnSync(process.execPath, ['--version'])
  for (const left of [String(pid), String(process.pid), '']) {
    await writeFile(`${file}.lock`, left)
    await (await open()).close()
  }
})

test('a report too large for the service is rejected immediately', async () => {
  const { queue: sent } = await queue()
  await expect(sent.add({ ...place, deviceId: 'x'.repeat(17_000) })).rejects.toThrow('16 KiB')
  expect(sent.size).toBe(0)
})
