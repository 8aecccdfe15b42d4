import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { openSqliteEventLog } from '../../event-log/sqlite/sqlite-event-log.ts'
import { startIngestApi } from '../../ingest-api/service.ts'
import { systemClock as clock } from '../../runtime/clock.ts'
import { loadConfig } from '../../runtime/config/config.ts'
import { Lifecycle } from '../../runtime/process/lifecycle.ts'
import { createLogger } from '../../runtime/process/logger.ts'
import { createMetrics } from '../../runtime/process/metrics.ts'
import { keyHint, newApiKey, secretHash } from '../../schemas/access/api-key.ts'
import type { ReportRejected } from '../../schemas/events/report-rejected.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import { eventually } from '../eventually.ts'
import { ownDirectory } from '../own-directory.ts'
import { T0 } from '../samples.ts'

/** Resolves with the number of runs of its tasks. */
class NotedLifecycle extends Lifecycle {
  readonly periods = new Map<string, number>()

  override every(what: string, everyMs: number, task: () => Promise<void>): void {
    this.periods.set(what, everyMs)
    super.every(what, everyMs, task)
  }
}

test('the ingest API reports itself, stores the use of a key within 15 s, and writes its rejections before it ends', async () => {
  const directory = await ownDirectory()
  const logger = createLogger({ level: 'silent', name: 'test' })
  const lifecycle = new NotedLifecycle({ logger, deadlineMs: 10_000 })
  const eventLog = openSqliteEventLog({ file: join(directory, 'log.sqlite'), clock })
  const store = openSqliteStore({ directory })
  const account = { id: 'acc-1', name: 'Fleet', suspended: false, createdAt: T0 }
  await store.createAccount(account)
  const secret = newApiKey()
  const key = { id: 'key-1', accountId: 'acc-1', name: 'van', hint: keyHint(secret), createdAt: T0 }
  await store.createKey({ ...key, scopes: ['positions:write'] }, secretHash(secret))

  const config = loadConfig({ INGEST_PORT: '0' })
  const program = { config, logger, metrics: createMetrics(), lifecycle }
  const url = await startIngestApi({ eventLog, store }, program)
  // In the order of their creation: those that an earlier test of this process left open come
  // first.
  const open = process.getActiveResourcesInfo()
  const handles = open
    .slice(open.lastIndexOf('TCPServerWrap'))
    .filter((name) => name.startsWith('TCP'))
  // Each accepts one connection in an event-loop turn.
  expect(handles).toHaveLength(32)
  const [instance] = await eventually(async () => {
    const found = await store.instances({ reportedSince: 0 })
    return found.length > 0 && found
  })
  expect(instance).toMatchObject({ service: 'ingest-api', acceptedPerMinute: 0 })
  const headers = { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' }
  const sent = await fetch(`${url}/api/v1/gps/submit`, { method: 'POST', headers, body: '{' })
  expect(sent.status).toBe(400)
  // The store has a few seconds to answer.
  expect(lifecycle.periods.get('key usage')).toBeLessThanOrEqual(12_000)
  await lifecycle.close()
  const query = { accountId: 'acc-1', keyId: 'key-1' }
  expect((await store.findKey(query))?.lastUsedAt).toBeDefined()

  const rejected: ReportRejected[] = []
  const reading = new AbortController()
  await eventLog.rejections.subscribe({
    group: 'reading',
    signal: reading.signal,
    async onBatch(events) {
      rejected.push(...events)
      reading.abort()
    },
  })
  expect(rejected).toMatchObject([{ keyId: 'key-1', error: 'INVALID_PARAMS', body: '{' }])
  await store.close()
  await eventLog.close()
})
