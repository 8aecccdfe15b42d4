import { fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually } from '../eventually.ts'
import { startEmbedded, type Embedded } from '../programs.ts'
import { ownDirectory } from '../own-directory.ts'
import { isDecided, median } from './rounds.ts'
import { noteFault } from './table.ts'

/** One second of a flood. */
type Second = { sent: number; good: number; late: number; refused: number; other: number }

const HEAP_MB = 256

let directory: string
let service: Embedded
let port: number
let key: string
const generator = fork(fileURLToPath(new URL('flood.mjs', import.meta.url)))

beforeAll(async () => {
  directory = await ownDirectory()
  service = await startEmbedded(directory, {
    RATE_LIMIT_KEY: 'off',
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
  })
  port = Number(new URL(service.ingestUrl).port)
  key = await eventually(() => /gps_[0-9A-Za-z]{38}/.exec(service.output())?.[0])
})

afterAll(() => void generator.kill())

/** Reports from another process, at a rate that does not depend on the responses, or unlimited. */
function flood(order: {
  connections: number
  perSecond: number
  seconds: number
}): Promise<readonly Second[]> {
  return new Promise((resolve) => {
    generator.once('message', (result) => resolve(result as Second[]))
    generator.send({ port, key, ...order })
  })
}

const sum = (told: readonly Second[], what: keyof Second) =>
  told.reduce((total, second) => total + second[what], 0)
const isHigh = (ratio: number) => ratio >= 0.8
const isRecovered = (share: number) => share >= 0.95

test('a service at three times its capacity takes at least 80 % of its peak, and recovers within 5 s', async () => {
  await flood({ connections: 64, perSecond: 0, seconds: 3 })
  const ratios: number[] = []
  const recoveries: number[] = []
  let [refused, late] = [0, 0]
  while (!isDecided(ratios.map(isHigh), recoveries.map(isRecovered))) {
    const before = await flood({ connections: 64, perSecond: 0, seconds: 5 })
    const peak = sum(before, 'good') / before.length
    const over = await flood({ connections: 3_000, perSecond: 3 * peak, seconds: 8 })
    const goodput = (sum(over, 'good') - sum(over, 'late')) / over.length
    const after = await flood({ connections: 64, perSecond: peak / 2, seconds: 6 })
    expect(sum([...before, ...over, ...after], 'other')).toBe(0)
    ratios.push(goodput / peak)
    const last = after.slice(4)
    recoveries.push(sum(last, 'good') / Math.max(1, sum(last, 'sent')))
    refused += sum(over, 'refused')
    late += sum(over, 'late')
  }
  noteFault('three times the capacity', {
    'goodput ÷ peak': median(ratios).toFixed(2),
    'answered after 4 s': median(recoveries).toFixed(2),
    refused,
    late,
    'resident MB': residentMb(),
  })
  expect([ratios, isHigh(median(ratios))]).toEqual([ratios, true])
  expect([recoveries, isRecovered(median(recoveries))]).toEqual([recoveries, true])
})

test('the service survives any requests without a key', async () => {
  const sockets: Socket[] = []
  const post = 'POST /api/v1/gps/submit HTTP/1.1\r\nHost: a\r\n'
  const floods: Readonly<Record<string, string>> = {
    'half a head': post,
    'half a body': `${post}Content-Length: 16000\r\n\r\n${' '.repeat(15_000)}`,
    'a large body': `${post}Content-Length: 1000000\r\n\r\n${' '.repeat(60_000)}`,
    'chunks without an end': `${post}Transfer-Encoding: chunked\r\n\r\n1000\r\n${' '.repeat(4_096)}\r\n`,
    'thousands at once': `${post}Content-Length: 2\r\n\r\n{}`.repeat(900),
    'requests whose responses are not read': 'GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(
      900,
    ),
  }
  for (const [what, text] of Object.entries(floods)) {
    for (let n = 0; n < 600; n += 1) {
      const socket = connect(port, '127.0.0.1', () => socket.write(text))
      socket.on('error', () => undefined)
      // Responses are not read.
      socket.pause()
      sockets.push(socket)
      if (n % 50 === 49) await new Promise((resolve) => setTimeout(resolve, 10))
    }
    await eventually(async () => (await report()) === 200, { withinMs: 60_000 })
    process.stderr.write(`${what}: ${residentMb()} MB\n`)
  }
  const held = residentMb()
  for (const socket of sockets) socket.destroy()
  await eventually(async () => (await report()) === 200, { withinMs: 60_000 })
  expect(service.process.exitCode).toBeNull()
  noteFault('floods without a key', { connections: sockets.length, 'resident MB': held })
})

async function report(): Promise<number> {
  const answer = await fetch(`${service.ingestUrl}/api/v1/gps/submit`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ deviceId: 'tug', latitude: 1, longitude: 2 }),
    signal: AbortSignal.timeout(10_000),
  }).catch(() => undefined)
  await answer?.text()
  return answer?.status ?? 0
}

function residentMb(): number {
  const status = readFileSync(`/proc/${service.process.pid}/status`, 'utf8')
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024)
}
