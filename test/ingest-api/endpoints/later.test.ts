import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { InFlight } from '../../../runtime/http/in-flight.ts'
import { eventually } from '../../eventually.ts'
import { fakeTimers } from '../../fake-timers.ts'
import { DependencyError } from '../../../runtime/errors.ts'
import type { ApiKey } from '../../../store/keys.ts'
import { T0 } from '../../samples.ts'
import { startIngest, type Answer, type IngestHarness } from '../ingest-harness.ts'
import { rejectionsOf } from '../apps/rejections-of.ts'

let ingest: IngestHarness
let points = 0

beforeEach(() => fakeTimers('performance'))

afterEach(async () => {
  jest.useRealTimers()
  await ingest.close()
})

async function start(
  options: Parameters<typeof startIngest>[0] = {},
  changes: Partial<ApiKey> = {},
): Promise<{ id: string; secret: string }> {
  ingest = await startIngest(options)
  return ingest.createKey(changes)
}

function feature(deviceId = 'van', latitude = 54.3) {
  points += 1
  return {
    geometry: { type: 'Point', coordinates: [10.1, latitude] },
    properties: { device_id: deviceId, timestamp: T0 / 1000 + points },
  }
}

function overland(secret: string, ...locations: unknown[]): Promise<Answer> {
  const headers = { Authorization: `Bearer ${secret}` }
  const body = JSON.stringify({ locations })
  return ingest.request('/api/v1/senders/overland', { method: 'POST', headers, body })
}

/** Every path with a request of one position. */
function everyApp(secret: string): Promise<Answer>[] {
  const headers = { Authorization: `Bearer ${secret}` }
  const post = (path: string, body: object) =>
    ingest.request(path, { method: 'POST', headers, body: JSON.stringify(body) })
  return [
    overland(secret, feature()),
    post('/pub', { _type: 'location', tid: 'van', lat: 1, lon: 2, tst: T0 / 1000 }),
    post('/api/v1/senders/traccar', { device_id: 'van', location: { latitude: 1, longitude: 2 } }),
    ingest.request(`/api/v1/senders/osmand/${secret}?id=van&lat=1&lon=2`),
  ]
}

/** 503 with the time after which to retry. */
function expectLater(answer: Answer, retryAfter: RegExp): void {
  expect(answer.status).toBe(503)
  expect(answer.body).toMatchObject({ success: false, code: 503, error: 'SERVICE_UNAVAILABLE' })
  expect(answer.headers.get('retry-after')).toMatch(retryAfter)
}

const devices = async () => (await ingest.logged()).map(({ deviceId }) => deviceId).sort()

describe('requests that may succeed later', () => {
  test('a request that may succeed later gets 503 for a device that is not on the key’s list, which operators see', async () => {
    const { id, secret } = await start({}, { deviceIds: ['van', 'tug-*'] })
    expectLater(await overland(secret, feature(), feature('bus'), feature('tug-1')), /^60$/)
    expect(await devices()).toEqual(['tug-1', 'van'])
    expect(await rejectionsOf(ingest, id)).toMatchObject([
      {
        error: 'FORBIDDEN',
        deviceId: 'bus',
        message: 'this API key may not report for this deviceId',
      },
    ])
    expect((await overland(secret, feature('tug-2'))).status).toBe(200)
  })

  test('a request that may succeed later gets 503 for a suspended account, which operators see', async () => {
    const { id, secret } = await start()
    await ingest.store.suspendAccount({ accountId: 'acc-1', suspended: true })
    for (const answer of await Promise.all(everyApp(secret))) expectLater(answer, /^60$/)
    await ingest.rejected(4)
    const told = await rejectionsOf(ingest, id)
    expect(told.map(({ message }) => message)).toEqual(Array(4).fill('the account is suspended'))
  })

  test('a request that may succeed later gets 503 while the log is unavailable', async () => {
    const append = () => Promise.reject(new DependencyError('away', { retriable: true }))
    const { id, secret } = await start({ wrapLog: (log) => ({ append, ready: () => log.ready() }) })
    for (const answer of await Promise.all(everyApp(secret))) expectLater(answer, /^[123]$/)
    expect(await rejectionsOf(ingest, id)).toEqual([])
  })

  test('a request that may succeed later gets 503 after an error of the service', async () => {
    const append = () => Promise.reject(new TypeError('events is not iterable'))
    const { secret } = await start({ wrapLog: (log) => ({ append, ready: () => log.ready() }) })
    const answer = await overland(secret, feature())
    expectLater(answer, /^[123]$/)
    expect(JSON.stringify(answer.body)).not.toContain('iterable')
  })

  test('a request that may succeed later gets 503 while the store cannot look up the key', async () => {
    const { secret } = await start({
      wrapKeys: () => ({ findGrant: () => Promise.reject(new Error('away')) }),
    })
    for (const answer of await Promise.all(everyApp(secret))) expectLater(answer, /^[123]$/)
  })

  test('a request that may succeed later gets 503 after too many failed authentications of an address', async () => {
    await start({ rateLimits: { auth: { points: 2, seconds: 60 } } })
    const answers = []
    for (let n = 0; n < 4; n += 1) answers.push(await overland('none', feature()))
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 503, 503])
    expect(Number(answers[3]?.headers.get('retry-after'))).toBeGreaterThan(3)
  })

  test('a request that may succeed later gets 503 for a device beyond its limit, alongside another device', async () => {
    const { id, secret } = await start({ rateLimits: { device: { points: 1, seconds: 60 } } })
    expect((await overland(secret, feature(), feature())).status).toBe(200)
    expectLater(await overland(secret, feature(), feature('tug')), /^\d\d$/)
    expect(await devices()).toEqual(['tug', 'van', 'van'])
    // The app will retry, so it is not a rejection.
    expect(await rejectionsOf(ingest, id)).toEqual([])
    const { values } = await ingest.metrics.appReports.get()
    expect(values).toContainEqual(
      expect.objectContaining({ labels: { app: 'overland', outcome: 'RATE_LIMITED' }, value: 1 }),
    )
  })

  test('a request that may succeed later gets 503 when the service is overloaded, even with GET', async () => {
    const load = new InFlight({ mostRequests: 0 })
    const { secret } = await start({ load })
    const answer = await ingest.request(`/api/v1/senders/osmand/${secret}?id=van&lat=1&lon=2`)
    expectLater(answer, /^[123]$/)
  })
})

describe('batches over their key’s limit', () => {
  test('a batch over its key’s limit is accepted whole, and the excess is owed', async () => {
    const { secret } = await start({ rateLimits: { key: { points: 5, seconds: 1 } } })
    const twenty = Array.from({ length: 20 }, () => feature())
    expect((await overland(secret, ...twenty)).status).toBe(200)
    expect(await devices()).toHaveLength(20)
    // A second for the five that fitted, and three for those that did not.
    for (let second = 0; second < 4; second += 1) {
      expectLater(await overland(secret, feature()), /^1$/)
      jest.advanceTimersByTime(1_000)
    }
    expect((await overland(secret, feature())).status).toBe(200)
  })

  test('a batch over its key’s limit is charged before it is processed, so concurrent ones are not all accepted', async () => {
    const load = new InFlight()
    const { secret } = await start({ load, rateLimits: { key: { points: 5, seconds: 60 } } })
    const begun = jest.spyOn(load, 'beginBody')
    let letGo = () => {}
    const going = new Promise<void>((resolve) => (letGo = resolve))
    const sent = Array.from({ length: 4 }, () => {
      const locations = Array.from({ length: 20 }, () => feature())
      const body = new ReadableStream({
        start: (controller) => controller.enqueue(Buffer.from('{"locations":')),
        async pull(controller) {
          await going
          controller.enqueue(Buffer.from(`${JSON.stringify(locations)}}`))
          controller.close()
        },
      })
      const headers = { Authorization: `Bearer ${secret}` }
      const init = { method: 'POST', headers, body, duplex: 'half' } as const
      return ingest.request('/api/v1/senders/overland', init)
    })
    await eventually(() => begun.mock.calls.length === 4)
    letGo()
    const answers = await Promise.all(sent)
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 503, 503, 503])
    expect(await devices()).toHaveLength(20)
  })

  test('a batch over its key’s limit owes nothing if the log refused it', async () => {
    let isAway = true
    const { secret } = await start({
      rateLimits: { key: { points: 5, seconds: 60 } },
      wrapLog: (log) => ({
        ready: () => log.ready(),
        append: async (events) => {
          if (isAway) throw new DependencyError('away', { retriable: true })
          await log.append(events)
        },
      }),
    })
    const twenty = Array.from({ length: 20 }, () => feature())
    for (let n = 0; n < 3; n += 1) expectLater(await overland(secret, ...twenty), /^[123]$/)
    isAway = false
    expect((await overland(secret, feature('tug'))).status).toBe(200)
    expect((await overland(secret, ...twenty)).status).toBe(200)
    expectLater(await overland(secret, feature()), /^60$/)
  })

  test('a batch over its key’s limit owes nothing while it is resent for a device that is not on the key’s list', async () => {
    const limit = { key: { points: 5, seconds: 1 } }
    const { secret } = await start({ rateLimits: limit }, { deviceIds: ['van', 'tug'] })
    const twenty = Array.from({ length: 20 }, () => feature())
    expectLater(await overland(secret, ...twenty, feature('bus')), /^60$/)
    // It has used up the window, and nothing else.
    jest.advanceTimersByTime(1_000)
    expect((await overland(secret, feature('tug'))).status).toBe(200)
    expect(await devices()).toHaveLength(21)
  })
})
