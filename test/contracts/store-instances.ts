import { expect } from '@jest/globals'
import { randomUUID } from 'node:crypto'
import type { InstanceReport } from '../../schemas/instance-report.ts'
import { INSTANCE_GONE_MS } from '../../schemas/instance-report.ts'
import type { StoreSuite } from './store-suite.ts'

export function instancesContract({ alone }: StoreSuite): void {
  // Close to now: a store may use its own clock when it removes old data.
  const now = Date.now()

  alone(
    'an instance is listed with its last report while it keeps reporting',
    async ({ store }) => {
      const ingest = report({
        service: 'ingest-api',
        acceptedPerMinute: 0.5,
        refusedPerMinute: 0,
      })
      const projector = report({
        service: 'projector',
        lag: { events: 12, seconds: 0.25 },
        deadLetters: 3,
        reportedAt: now - 20_000,
      })
      const gone = report({ reportedAt: now - INSTANCE_GONE_MS - 1 })
      for (const said of [ingest, projector, gone]) await store.saveInstance(said)
      const reportedSince = now - INSTANCE_GONE_MS
      expect(new Set(await store.instances({ reportedSince }))).toEqual(
        new Set([ingest, projector]),
      )
      const next = { ...ingest, reportedAt: now + 10_000, acceptedPerMinute: 7 }
      await store.saveInstance(next)
      expect(new Set(await store.instances({ reportedSince }))).toEqual(new Set([next, projector]))
      expect(await store.instances({ reportedSince: next.reportedAt })).toEqual([next])
      expect(await store.instances({ reportedSince: next.reportedAt + 1 })).toEqual([])
    },
  )

  alone('each minute has the last report of each instance', async ({ store }) => {
    const start = Math.floor(now / 3_600_000) * 3_600_000
    const at = (ms: number, fields: Partial<InstanceReport>) =>
      store.saveInstance(report({ instanceId: 'one', reportedAt: start + ms, ...fields }))
    await at(59_000, { acceptedPerMinute: 5, refusedPerMinute: 1 })
    await at(60_000, { acceptedPerMinute: 6, refusedPerMinute: 0 })
    await at(119_999, { acceptedPerMinute: 7, refusedPerMinute: 0.5 })
    await at(119_999, { instanceId: 'two', lag: { events: 3, seconds: 0.5 }, deadLetters: 2 })
    await at(119_999, { instanceId: 'idle' })
    await at(3_600_000, { acceptedPerMinute: 8, refusedPerMinute: 0 })
    const minutes = [
      { start, acceptedPerMinute: 5, refusedPerMinute: 1 },
      { start: start + 60_000, acceptedPerMinute: 7, refusedPerMinute: 0.5 },
      { start: start + 60_000, lag: { events: 3, seconds: 0.5 }, deadLetters: 2 },
      { start: start + 3_600_000, acceptedPerMinute: 8, refusedPerMinute: 0 },
    ]
    expect(new Set(await store.instanceMinutes({ since: start }))).toEqual(new Set(minutes))
    const later = await store.instanceMinutes({ since: start + 60_000 })
    expect(new Set(later)).toEqual(new Set(minutes.slice(1)))
  })

  function report(fields: Partial<InstanceReport>): InstanceReport {
    return {
      instanceId: randomUUID(),
      service: 'admin-api',
      version: '1.2.0',
      host: 'host-ü',
      startedAt: now - 90_000,
      reportedAt: now,
      ...fields,
    }
  }
}
