import { get, IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { beforeAll, beforeEach, expect, test } from '@jest/globals'
import Koa from 'koa'
import type { AdminContext } from '../../../../admin-api/http/admin-route.ts'
import { exportPositions } from '../../../../admin-api/devices/export/export-positions.ts'
import { ndjson } from '../../../../admin-api/devices/export/export-positions.ts'
import { DependencyError } from '../../../../runtime/errors.ts'
import type { Store } from '../../../../store/store.ts'
import { eventually } from '../../../eventually.ts'
import { startAdmin, type AdminHarness } from '../../admin-harness.ts'

const FORMATS = ['geojson', 'gpx', 'csv', 'ndjson'] as const

let harness: AdminHarness
let headers: Record<string, string>

/** Tampers with the store's pages, and counts pages read. */
const pages = { read: 0, failsAt: Infinity, endless: false, longest: 0 }

function wrapStore(store: Store): Store {
  return {
    ...store,
    async pagePositions({ after, ...query }) {
      pages.read += 1
      if (pages.read >= pages.failsAt) {
        throw new DependencyError('the store is away', { retriable: true })
      }
      const page = await store.pagePositions({
        ...query,
        ...(after && !pages.endless && { after }),
      })
      pages.longest = Math.max(pages.longest, page.length)
      return page
    },
  }
}

beforeAll(async () => {
  harness = await startAdmin({ wrapStore })
  headers = await harness.createSession()
  await harness.project(
    { deviceId: 'tug' },
    ...Array.from({ length: 2_500 }, () => ({ deviceId: 'tug' })),
  )
})
beforeEach(() => {
  Object.assign(pages, { read: 0, failsAt: Infinity, endless: false, longest: 0 })
})

function file(format: string) {
  return harness.api('GET', `/devices/tug/positions?format=${format}`, { headers })
}

test('an export that cannot be completed because the store is unavailable from the start is a 503', async () => {
  pages.failsAt = 1
  const answer = await file('csv')
  expect(answer.status).toBe(503)
  expect(answer.headers.get('content-type')).toContain('application/json')
  expect(answer.headers.get('content-disposition')).toBeNull()
})

test.each(FORMATS)(
  'an export that cannot be completed because the store fails half-way cuts the connection: %s',
  async (format) => {
    pages.failsAt = 3
    harness.logged.length = 0
    await expect(file(format)).rejects.toThrow()
    expect(pages.read).toBe(3)
    await eventually(() => harness.logged.some((line) => line.includes('response aborted')))
  },
)

/** Starts reading an endless file. */
async function beginEndless(): Promise<IncomingMessage> {
  pages.endless = true
  const url = `${harness.url}/api/v1/devices/tug/positions?format=ndjson`
  return new Promise((resolve, reject) => {
    get(url, { headers }, resolve).once('error', reject)
  })
}

/** Resolves once no page has been read for many event-loop turns, however long they take. */
async function reachRest(): Promise<number> {
  let before = -1
  let turns = 0
  return eventually(
    () => {
      turns = pages.read === before ? turns + 1 : 0
      before = pages.read
      return turns >= 15 && pages.read
    },
    { everyMs: 20, withinMs: 30_000 },
  )
}

test('an export reads the store no faster than the client takes the file', async () => {
  const response = await beginEndless()
  const read = await reachRest()
  // The buffers in between hold a few megabytes, far from the whole history.
  expect(read).toBeLessThan(200)
  response.resume()
  await eventually(() => pages.read > read + 20, { withinMs: 30_000 })
  response.destroy()
  await reachRest()
})

test('an export stops reading the store once the client has disconnected', async () => {
  harness.logged.length = 0
  const reading = await beginEndless()
  reading.resume()
  await eventually(() => pages.read > 20, { withinMs: 30_000 })
  reading.destroy()
  await reachRest()
  const waiting = await beginEndless()
  const read = await reachRest()
  waiting.destroy()
  await eventually(
    () => harness.logged.filter((line) => line.includes('client disconnected')).length === 2,
  )
  expect(await reachRest()).toBe(read)
  expect(harness.logged.join()).not.toContain('response aborted')
})

test('for a HEAD, an export reads only the first page from the store', async () => {
  const path = '/api/v1/devices/tug/positions?format=geojson'
  const answer = await harness.request('HEAD', path, { headers })
  expect([answer.status, answer.text]).toEqual([200, ''])
  expect(answer.headers.get('content-type')).toBe('application/geo+json')
  expect(await reachRest()).toBe(1)
})

test('an export takes turns with all other work, however fast the client is', async () => {
  pages.endless = true
  const request = new IncomingMessage(new Socket())
  const ctx = new Koa().createContext(request, new ServerResponse(request)) as AdminContext
  await exportPositions(ctx, {
    store: wrapStore(harness.store),
    format: ndjson,
    device: { deviceId: 'tug' },
    range: { accountId: 'acc-1', deviceId: 'tug', order: 'asc' },
  })
  const othersTurn = nextTurn().then(() => pages.read)
  for await (const chunk of ctx.body as Readable) {
    expect(chunk).not.toBe('')
    if (pages.read >= 20) break
  }
  expect(await othersTurn).toBeLessThan(5)
  // A turn reads and writes this many within 50 ms even if each has all attributes.
  expect(pages.longest).toBeLessThanOrEqual(250)
})
