import { expect, test } from '@jest/globals'
import { factsWorld, projectAll } from '../../projector/facts/facts-world.ts'
import { T0 } from '../../samples.ts'
import { ingestForAllTests, type IngestHarness } from '../ingest-harness.ts'

const MINUTE = 60_000
const DAY = 86_400_000
const VISITS = 17

let ingest: IngestHarness
let key: string
ingestForAllTests((given) => ({ ingest, key } = given))

/** A separate position for each number, about 10 km from the next. */
const place = (number: number) => ({ latitude: 45 + number / 10, longitude: 13.7 })

async function project(): Promise<void> {
  const { eventLog, store, clock } = ingest
  const world = factsWorld({ eventLog, store, clock })
  await world.ingestReports()
  await projectAll({ eventLog, store, judging: world.judging })
}

test('a phone that sends its backlog newest first still yields every visit', async () => {
  const { store } = ingest
  await store.createGeofences(
    Array.from({ length: VISITS }, (_, number) => ({
      id: `place-${String(number).padStart(2, '0')}`,
      accountId: 'acc-1',
      createdAt: T0,
      name: `Place ${number}`,
      shape: { type: 'circle' as const, ...place(number), radius: 100 },
      confirmSeconds: 0,
      enabled: true,
    })),
  )
  await project()
  ingest.clock.time = T0 + DAY
  const reports = Array.from({ length: VISITS * 10 }, (_, minute) => ({
    deviceId: 'phone',
    ...place(Math.floor(minute / 10)),
    timestamp: new Date(T0 + (minute + 1) * MINUTE).toISOString(),
  }))
  const { body } = await ingest.batch({ reports: reports.reverse() }, { key })
  expect(body).toMatchObject({ data: { accepted: VISITS * 10 } })
  await project()
  const facts = await store.pageFacts({ accountId: 'acc-1', limit: 1000 })
  const entered = facts.filter(({ type }) => type === 'geofence.entered')
  expect(entered.map(({ at }) => (at - T0) / MINUTE).sort((a, b) => a - b)).toEqual(
    Array.from({ length: VISITS }, (_, number) => number * 10 + 1),
  )
})

test('an import is appended by time, and its results are in the order of the request', async () => {
  const { secret } = await ingest.createKey({ scopes: ['positions:import'] })
  const reports = Array.from({ length: 700 }, (_, index) => ({
    deviceId: 'history',
    ...place(0),
    // Neither rising nor falling.
    timestamp: new Date(T0 - ((index * 311) % 700) * MINUTE).toISOString(),
  }))
  const { body } = await ingest.import({ reports }, { key: secret })
  const { results } = body['data'] as { results: { index: number; recordId: string }[] }
  const logged = (await ingest.logged()).filter(({ deviceId }) => deviceId === 'history')
  const times = logged.map(({ timestamp }) => timestamp)
  expect(times).toEqual([...times].sort((a, b) => a - b))
  const timeOf = new Map(logged.map(({ recordId, timestamp }) => [recordId, timestamp]))
  expect(results.map(({ recordId }) => timeOf.get(recordId))).toEqual(
    reports.map(({ timestamp }) => Date.parse(timestamp)),
  )
})
