import { expect, test } from '@jest/globals'
import { VERSION } from '../../runtime/process/instance.ts'
import type { InstanceReport, ServiceName } from '../../schemas/instance-report.ts'
import { adminForAllTests, type AdminHarness } from './admin-harness.ts'

let harness: AdminHarness
let headers: Record<string, string>
adminForAllTests((given) => ({ harness, headers } = given))

async function system() {
  const answer = await harness.api('GET', '/system', { headers })
  expect(answer.status).toBe(200)
  return answer.body.data
}

/** A service that reported some seconds ago. */
async function report(
  service: ServiceName,
  host: string,
  secondsAgo: number,
  measured: Partial<InstanceReport> = {},
) {
  const { time } = harness.clock
  const instanceId = `${service}-${host}`
  const reportedAt = time - secondsAgo * 1000
  const run = { instanceId, service, host, version: '9.9.9', startedAt: time - 100_000 }
  await harness.store.saveInstance({ ...run, reportedAt, ...measured })
}

test('unknown values are null until an instance has reported', async () => {
  expect(await system()).toEqual({
    mode: 'embedded',
    version: VERSION,
    lag: null,
    deadLetters: null,
    factsLagSeconds: null,
    failingDevices: null,
    silenceHeldSeconds: null,
    acceptedPerMinute: 0,
    refusedPerMinute: 0,
    spool: null,
    instances: [],
    retentionDays: null,
  })
})

test('rates are summed, the lag is the newest one reported, and ended instances do not count', async () => {
  await report('projector', 'a', 9, {
    lag: { events: 50, seconds: 5 },
    deadLetters: 1,
    failingDevices: 1,
    silenceHeldSeconds: 70,
    factsLagSeconds: 9,
  })
  await report('projector', 'b', 3, {
    lag: { events: 20, seconds: 2.5 },
    deadLetters: 3,
    failingDevices: 2,
    silenceHeldSeconds: 50,
    factsLagSeconds: 7,
  })
  await report('projector', 'c', 1)
  await report('projector', 'gone', 31, { lag: { events: 9, seconds: 9 }, deadLetters: 9 })
  await report('ingest-api', 'b', 0, { acceptedPerMinute: 1200, refusedPerMinute: 4 })
  await report('ingest-api', 'a', 30, { acceptedPerMinute: 34, refusedPerMinute: 0 })
  await report('ingest-api', 'gone', 31, { acceptedPerMinute: 999, refusedPerMinute: 999 })
  await report('admin-api', 'a', 2)
  const told = await system()
  expect(told).toMatchObject({
    lag: { events: 20, seconds: 2.5 },
    deadLetters: 3,
    factsLagSeconds: 7,
    failingDevices: 3,
    silenceHeldSeconds: 50,
    acceptedPerMinute: 1234,
    refusedPerMinute: 4,
  })
  const instances = told?.['instances'] as Record<string, unknown>[]
  expect(instances.map(({ service, host }) => [service, host])).toEqual([
    ['ingest-api', 'a'],
    ['ingest-api', 'b'],
    ['projector', 'a'],
    ['projector', 'b'],
    ['projector', 'c'],
    ['admin-api', 'a'],
  ])
  expect(instances[0]).toEqual({
    service: 'ingest-api',
    host: 'a',
    version: '9.9.9',
    startedAt: new Date(harness.clock.time - 100_000).toISOString(),
    reportedAt: new Date(harness.clock.time - 30_000).toISOString(),
  })
})

test('spools are summed over all ingest APIs, with the oldest event of any', async () => {
  const spool = { events: 3, bytes: 700, oldestSeconds: 12.5 }
  await report('ingest-api', 'a', 5, { spool })
  await report('ingest-api', 'b', 5, { spool: { events: 4, bytes: 1000, oldestSeconds: 2 } })
  await report('ingest-api', 'gone', 31, { spool: { ...spool, oldestSeconds: 99 } })
  expect(await system()).toMatchObject({ spool: { events: 7, bytes: 1700, oldestSeconds: 12.5 } })
})
