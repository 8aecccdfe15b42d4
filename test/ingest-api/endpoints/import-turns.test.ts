import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { endOfTurn } from '../../../runtime/end-of-turn.ts'
import { InFlight } from '../../../runtime/http/in-flight.ts'
import type { AppendedEvent } from '../../../schemas/events/appended-event.ts'
import { eventually } from '../../eventually.ts'
import { startIngest, type Answer, type IngestHarness } from '../ingest-harness.ts'
import { stopTime } from '../stopped-time.ts'

const AT_ONCE = 2
const WAITING = 64

let ingest: IngestHarness
let key: string
let load: CountingLoad
/** The devices of the events of each append that has started, each once. */
let appends: string[][]
/** Each releases an import's append, which the test holds back. */
let held: (() => void)[]

beforeEach(async () => {
  appends = []
  held = []
  load = new CountingLoad()
  ingest = await startIngest({
    load,
    wrapLog: (log) => ({
      ready: () => log.ready(),
      async append(events) {
        appends.push(devicesOf(events))
        if (events[0]?.deviceId.startsWith('import')) {
          await new Promise<void>((resolve) => held.push(resolve))
        }
        await log.append(events)
      },
    }),
  })
  key = (await ingest.createKey({ scopes: ['positions:import', 'positions:write'] })).secret
})

afterEach(() => ingest.close())

/** Counts the bytes of bodies that have arrived. */
class CountingLoad extends InFlight {
  arrived = 0

  override hold(...[holder, bytes]: Parameters<InFlight['hold']>): boolean {
    this.arrived += bytes
    return super.hold(holder, bytes)
  }
}

function devicesOf(events: readonly AppendedEvent[]): string[] {
  return [...new Set(events.map(({ deviceId }) => deviceId))]
}

const history = (deviceId: string, count: number) => ({
  reports: Array.from({ length: count }, (_, second) => ({
    deviceId,
    latitude: 54.3,
    longitude: second / 1_000,
    timestamp: new Date(Date.UTC(2020, 0, 1) + second * 1_000).toISOString(),
  })),
})

const submit = async () =>
  (await ingest.submit({ deviceId: 'tug', latitude: 1, longitude: 2 }, { key })).status

/** Releases held appends until `done` resolves. */
async function letGoUntil<T>(done: Promise<T>): Promise<T> {
  const result = { isThere: false }
  const settled = done.finally(() => (result.isThere = true))
  while (!result.isThere) {
    held.shift()?.()
    await endOfTurn()
  }
  return settled
}

test('a report that arrives while an import is processed is appended before the rest of it', async () => {
  const imported = ingest.import(history('import', 1_000), { key })
  await eventually(() => held.length === 1)
  expect(await submit()).toBe(200)
  expect(appends).toEqual([['import'], ['tug']])
  expect((await letGoUntil(imported)).body['data']).toMatchObject({ accepted: 1_000 })
  expect(appends).toEqual([['import'], ['tug'], ['import']])
  const logged = (await ingest.logged()).map(({ deviceId, longitude }) => [deviceId, longitude])
  expect(logged.filter(([deviceId]) => deviceId === 'import')).toEqual(
    history('import', 1_000).reports.map(({ deviceId, longitude }) => [deviceId, longitude]),
  )
})

test('an import gets its response only once all of it is durable', async () => {
  let isAnswered = false
  const imported = ingest.import(history('import', 1_000), { key }).finally(() => {
    isAnswered = true
  })
  await eventually(() => held.length === 1)
  held.shift()?.()
  await eventually(() => held.length === 1)
  expect((await ingest.logged()).length).toBe(500)
  expect(await submit()).toBe(200)
  expect(isAnswered).toBe(false)
  held.shift()?.()
  expect((await imported).status).toBe(200)
})

test('at most two imports are processed concurrently; waiting ones hold only unparsed bytes', async () => {
  const bodies = ['import-1', 'import-2', 'import-3', 'import-4'].map((deviceId) =>
    JSON.stringify(history(deviceId, 300)),
  )
  const imports = bodies.map((body) => ingest.import(body, { key }))
  const length = bodies.join('').length
  await eventually(() => load.arrived === length && held.length === AT_ONCE)
  const malformed = `{"reports":[${' '.repeat(20_000)}`
  let isAnswered = false
  const answered = ingest.import(malformed, { key }).then(({ status }) => {
    isAnswered = true
    return status
  })
  await eventually(() => load.arrived === length + malformed.length)
  expect(await submit()).toBe(200)
  expect(appends).toHaveLength(AT_ONCE + 1)
  expect(isAnswered).toBe(false)
  // One import ends and another starts: the malformed one is still behind them.
  held.shift()?.()
  await eventually(() => held.length === AT_ONCE)
  expect(isAnswered).toBe(false)
  const statuses = await letGoUntil(Promise.all(imports))
  expect(statuses.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  expect(await answered).toBe(400)
})

test('beyond 64 waiting imports, the account with most of them gets a 503, and another account is served', async () => {
  const other = (await ingest.createKeyOfNewAccount({ scopes: ['positions:import'] })).secret
  const answers: Answer[] = []
  const send = async (number: number, from = key) => {
    const answer = await ingest.import(history(`import-${number}`, 1), { key: from })
    answers.push(answer)
    return answer
  }
  const timeGoesOn = stopTime()
  const first = Array.from({ length: AT_ONCE + WAITING }, (_, number) => send(number))
  const bytes = Array.from(
    first,
    (_, number) => JSON.stringify(history(`import-${number}`, 1)).length,
  )
  const length = bytes.reduce((sum, each) => sum + each, 0)
  await eventually(() => held.length === AT_ONCE && load.arrived === length)
  const refused = await send(100)
  expect(refused.status).toBe(503)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  const others = send(200, other)
  await eventually(() => answers.length === 2)
  expect(answers[1]?.status).toBe(503)
  // The other account is next, however many of the first wait.
  held.shift()?.()
  held.shift()?.()
  await eventually(() => appends.some(([device]) => device === 'import-200'))
  expect(appends.length).toBeLessThanOrEqual(AT_ONCE + 3)
  timeGoesOn()
  const all = await letGoUntil(Promise.all([...first, others]))
  expect(all.filter(({ status }) => status === 200)).toHaveLength(AT_ONCE + WAITING)
})

test('reports of a batch of 1000 and of an app’s large body are appended in pieces too', async () => {
  const { reports } = history('import', 1_000)
  const batch = ingest.batch({ reports }, { key })
  await eventually(() => held.length === 1)
  expect(await submit()).toBe(200)
  expect((await letGoUntil(batch)).status).toBe(200)
  expect(appends).toEqual([['import'], ['tug'], ['import']])
  const locations = reports.map(({ deviceId, timestamp, longitude }) => ({
    type: 'Feature',
    properties: { device_id: deviceId, timestamp },
    geometry: { type: 'Point', coordinates: [longitude, 1] },
  }))
  appends.length = 0
  const overland = ingest.request('/api/v1/senders/overland', {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ locations }),
  })
  await eventually(() => held.length === 1)
  expect(await submit()).toBe(200)
  expect((await letGoUntil(overland)).status).toBe(200)
  expect(appends).toEqual([['import'], ['tug'], ['import']])
})
