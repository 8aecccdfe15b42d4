import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { openSqliteEventLog } from '../../event-log/sqlite/sqlite-event-log.ts'
import { startProjector } from '../../projector/service.ts'
import { systemClock as clock } from '../../runtime/clock.ts'
import { loadConfig } from '../../runtime/config/config.ts'
import { Lifecycle } from '../../runtime/lifecycle.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createMetrics } from '../../runtime/metrics.ts'
import { REJECTIONS_KEPT_MS } from '../../schemas/report-rejected.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import { directoryForEachTest } from '../directory-for-each-test.ts'
import { eventually } from '../eventually.ts'
import { positionReported, reportRejected } from '../samples.ts'

const folder = directoryForEachTest()

test('the projector says that it lives, and carries positions and rejections until it ends', async () => {
  const directory = folder()
  const logger = createLogger({ level: 'silent', name: 'test' })
  const lifecycle = new Lifecycle({ logger, deadlineMs: 10_000 })
  const eventLog = openSqliteEventLog({ file: join(directory, 'log.sqlite'), clock })
  const store = openSqliteStore({ directory })
  const event = positionReported()
  await eventLog.append([event])
  const rejection = reportRejected({ receivedAt: Date.now() })
  await eventLog.rejections.append([rejection])

  const program = { config: loadConfig({}), logger, metrics: createMetrics(), lifecycle }
  startProjector({ eventLog, store }, program)
  const { accountId, recordId } = event
  await eventually(async () => (await store.findPosition({ accountId, recordId })) !== undefined)
  const page = { accountId, limit: 10 }
  await eventually(async () => (await store.pageRejections(page)).length === 1)
  expect(await store.pageRejections(page)).toEqual([rejection])
  const [instance] = await eventually(async () => {
    const found = await store.instances({ reportedSince: 0 })
    return found.length > 0 && found
  })
  expect(instance).toMatchObject({ service: 'projector' })
  await lifecycle.close()
  await store.close()
  await eventLog.close()
})

test('the projector removes refused reports that have become too old, at its start', async () => {
  const directory = folder()
  const logger = createLogger({ level: 'silent', name: 'test' })
  const lifecycle = new Lifecycle({ logger, deadlineMs: 10_000 })
  const eventLog = openSqliteEventLog({ file: join(directory, 'log.sqlite'), clock })
  const time = { now: 0 }
  const store = openSqliteStore({ directory, clock: { now: () => time.now } })
  const old = reportRejected({ receivedAt: 0 })
  await store.saveRejections([old])
  time.now = REJECTIONS_KEPT_MS + 1
  const expired = new Promise<void>((resolve) => {
    const removeOutdated = (now: number) => store.removeOutdated(now).then(resolve)
    const program = { config: loadConfig({}), logger, metrics: createMetrics(), lifecycle }
    startProjector({ eventLog, store: { ...store, removeOutdated } }, program)
  })
  await expired
  time.now = 0
  expect(await store.pageRejections({ accountId: old.accountId, limit: 9 })).toEqual([])
  await lifecycle.close()
  await store.close()
  await eventLog.close()
})
