import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { beforeAll, expect, test } from '@jest/globals'
import { createKey, operatorEnv } from '../deployments.ts'
import { eventually } from '../eventually.ts'
import { startEmbedded, type Embedded } from '../programs.ts'
import { ownDirectory } from '../own-directory.ts'
import { noteFault } from './table.ts'

const CLIENTS = 100
/**
 * More than the operating system's buffers hold, and less than a service buffers for all clients.
 */
const PIPELINED = 150
/**
 * With more clients, waiting requests and responses exceed the memory limit, which cuts some off
 * sooner.
 */
const UNREAD = 12
/** The limit of open connections per key. */
const STREAMS = 20
/** A stream client that reads nothing is cut off once the ring has moved past it. */
const BATCHES = 24

let directory: string
let service: Embedded
let key: string

beforeAll(async () => {
  directory = await ownDirectory()
  service = await startEmbedded(directory, {
    ...operatorEnv(),
    RATE_LIMIT_KEY: 'off',
    NODE_OPTIONS: '--max-old-space-size=256',
  })
  key = await createKey(service.adminUrl)
})

/** A client that sends `text`, then `drip` every second; without `drip` it reads only the start. */
type Slow = { readonly url: string; readonly text: string; readonly drip?: string }

type Held = {
  /** The time until the service had closed all of them, after `meanwhile`. */
  readonly seconds: number
  readonly growthMb: number
  readonly answers: readonly string[]
}

/**
 * Holds slow clients' connections until the service closes them, and meanwhile reports as other
 * clients do. `meanwhile` makes the service send data.
 */
async function holdAll(slow: readonly Slow[], meanwhile = async () => {}): Promise<Held> {
  await report()
  const before = residentMb()
  let most = before
  const answers = slow.map(() => '')
  const own = new Set<string>()
  const sockets = slow.map(({ url, text, drip }, index): Socket => {
    const { port, hostname } = new URL(url)
    const socket = connect(Number(port), hostname, () => {
      own.add(connectionName(Number(port), socket.localPort))
      socket.write(text)
    })
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      answers[index] += chunk.toString()
      if (drip === undefined) socket.pause()
    })
    if (drip === undefined) return socket
    const dripping = setInterval(() => socket.write(drip), 1_000)
    return socket.on('close', () => clearInterval(dripping))
  })
  const accepted = new Set<string>()
  // Long, because on a busy machine the service may first have to work off its load.
  await eventually(
    () => {
      for (const name of openConnections()) if (own.has(name)) accepted.add(name)
      expect([own.size, accepted.size]).toEqual([slow.length, slow.length])
      return true
    },
    { withinMs: 120_000 },
  )
  await meanwhile()
  const started = performance.now()
  await eventually(
    async () => {
      expect(await report()).toBeLessThan(2_000)
      most = Math.max(most, residentMb())
      return !openConnections().some((name) => own.has(name))
    },
    { withinMs: 90_000, everyMs: 500 },
  )
  const seconds = (performance.now() - started) / 1_000
  await eventually(() => sockets.every((socket) => socket.isPaused() || socket.destroyed))
  for (const socket of sockets) socket.destroy()
  return { seconds, growthMb: most - before, answers }
}

/** Sends a report on a new connection; returns the response time in milliseconds. */
async function report(reports = [{ deviceId: 'tug', latitude: 1, longitude: 2 }]): Promise<number> {
  const started = performance.now()
  const answer = await fetch(`${service.ingestUrl}/api/v1/gps/batch`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ reports }),
  })
  expect(await answer.json()).toMatchObject({ data: { accepted: reports.length } })
  return performance.now() - started
}

/** About 20 MB of events; the ring holds the last 10 000. */
async function reportMuch(): Promise<void> {
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const reports = Array.from({ length: 1_000 }, (_, n) => {
      const deviceId = `${n % 10}`.padEnd(128, '€')
      return { deviceId, latitude: 1, longitude: batch + n / 1_000 }
    })
    // A busy machine may respond 503; a sender then retries.
    await eventually(() => report(reports))
  }
}

const onBothPorts = (slow: (url: string) => Omit<Slow, 'url'>, clients = CLIENTS): Slow[] =>
  [service.ingestUrl, service.adminUrl].flatMap((url) =>
    Array.from({ length: clients }, () => ({ url, ...slow(url) })),
  )

const bodyAt = (url: string) =>
  url === service.ingestUrl
    ? `POST /api/v1/gps/submit HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}`
    : 'POST /api/v1/session HTTP/1.1\r\nHost: a\r\nX-Requested-With: console'

test('slow headers and slow bodies get 408 within 20 s on both ports, and little memory', async () => {
  const headers = () => ({ text: 'POST / HTTP/1.1\r\nHost: a\r\n', drip: 'X-A: b\r\n' })
  const bodies = (url: string) => ({
    text: `${bodyAt(url)}\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n{`,
    drip: ' ',
  })
  const slow = [...onBothPorts(headers), ...onBothPorts(bodies)]
  const { seconds, growthMb, answers } = await holdAll(slow)
  const measured = { clients: answers.length, seconds: seconds.toFixed(1), growthMb }
  noteFault('slow headers and bodies', measured)
  for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 408 /)
  expect(seconds).toBeLessThan(20)
  expect(growthMb).toBeLessThan(50)
})

test('unread responses are cut off within 45 s on both ports, and take little memory', async () => {
  const get = 'GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n'
  const unread = onBothPorts(() => ({ text: get.repeat(PIPELINED) }), UNREAD)
  const { seconds, growthMb, answers } = await holdAll(unread)
  for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 200 /)
  noteFault('responses not read', { clients: unread.length, seconds: seconds.toFixed(1), growthMb })
  // Node notices at its second check that nothing was read.
  expect(seconds).toBeLessThan(45)
  expect(growthMb).toBeLessThan(150)
})

test('unread streams are cut off within 45 s of falling behind, and take little memory', async () => {
  const get = `GET /api/v1/stream HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`
  const slow = Array.from({ length: STREAMS }, () => ({ url: service.adminUrl, text: get }))
  // The cost of the same load without slow clients.
  await reportMuch()
  const { seconds, growthMb, answers } = await holdAll(slow, reportMuch)
  for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 200 /)
  noteFault('streams not read', { clients: STREAMS, seconds: seconds.toFixed(1), growthMb })
  expect(seconds).toBeLessThan(45)
  expect(growthMb).toBeLessThan(150)
})

/** The connections that the service has accepted and not closed. */
function openConnections(): string[] {
  const served = [service.ingestUrl, service.adminUrl].map((url) => Number(new URL(url).port))
  const [, ...rows] = readFileSync('/proc/net/tcp', 'utf8').trimEnd().split('\n')
  return rows.flatMap((row) => {
    const columns = row.trim().split(/\s+/)
    const ports = columns.slice(1, 3).map((address) => parseInt(address.slice(-4), 16))
    const [local = 0, remote] = ports
    // A connection that no process holds has no inode: not yet accepted, or already closed.
    return served.includes(local) && columns[9] !== '0' ? [connectionName(local, remote)] : []
  })
}

/** The client's port alone is not enough: the kernel uses it for connections to both ports of the service. */
function connectionName(servicePort: number, clientPort: number | undefined): string {
  return `${servicePort} ${clientPort}`
}

function residentMb(): number {
  const status = readFileSync(`/proc/${service.process.pid}/status`, 'utf8')
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024)
}
