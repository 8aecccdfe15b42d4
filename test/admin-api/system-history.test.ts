import { beforeAll, expect, test } from '@jest/globals'
import type { InstanceReport } from '../../schemas/instance-report.ts'
import { startAdmin, type AdminHarness } from './admin-harness.ts'

const MINUTE = 60_000

let harness: AdminHarness
let headers: Record<string, string>
beforeAll(async () => {
  harness = await startAdmin()
  headers = await harness.createSession()
})

const find = (query = '') => harness.api('GET', `/system/history${query}`, { headers })

async function report(ago: number, fields: Partial<InstanceReport>): Promise<void> {
  const { time } = harness.clock
  await harness.store.saveInstance({
    instanceId: 'a',
    service: 'ingest-api',
    version: '1',
    host: 'h',
    startedAt: time,
    reportedAt: time - ago,
    ...fields,
  })
}

test('every minute is listed, oldest first, over all instances; unmeasured values are null', async () => {
  await report(2 * MINUTE, { acceptedPerMinute: 10, refusedPerMinute: 1 })
  await report(2 * MINUTE, { instanceId: 'b', acceptedPerMinute: 5, refusedPerMinute: 2 })
  await report(0, { acceptedPerMinute: 20, refusedPerMinute: 0 })
  for (const [instanceId, seconds] of Object.entries({ c: 1, d: 4 })) {
    const lag = { events: seconds * 9, seconds }
    await report(0, { instanceId, service: 'projector', lag, deadLetters: seconds })
  }
  const start = (ago: number) => new Date(harness.clock.now() - ago * MINUTE).toISOString()
  expect((await find('?minutes=4')).body.data).toEqual({
    items: [
      { start: start(3), accepted: null, refused: null, lag: null, deadLetters: null },
      { start: start(2), accepted: 15, refused: 3, lag: null, deadLetters: null },
      { start: start(1), accepted: null, refused: null, lag: null, deadLetters: null },
      {
        start: start(0),
        accepted: 20,
        refused: 0,
        lag: { events: 36, seconds: 4 },
        deadLetters: 4,
      },
    ],
  })
  expect((await find()).body.data?.items).toHaveLength(60)
  expect((await find('?minutes=1440')).body.data?.items).toHaveLength(1_440)
})
