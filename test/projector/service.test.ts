import { copyFileSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { openSqliteEventLog } from '../../event-log/sqlite/sqlite-event-log.ts'
import { startProjector } from '../../projector/service.ts'
import { systemClock as clock } from '../../runtime/clock.ts'
import { loadConfig } from '../../runtime/config/config.ts'
import { Lifecycle } from '../../runtime/process/lifecycle.ts'
import { createLogger } from '../../runtime/process/logger.ts'
import { createMetrics } from '../../runtime/process/metrics.ts'
import { REJECTIONS_KEPT_MS } from '../../schemas/events/report-rejected.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import { directoryForEachTest } from '../directory-for-each-test.ts'
import { eventually } from '../eventually.ts'
import { deviceErased, positionReported, reportRejected, T0 } from '../samples.ts'

const folder = directoryForEachTest()

test('the projector reports its state, and projects positions and rejections until it stops', async () => {
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

test('at its start, the projector removes rejected reports that are too old', async () => {
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

test('the projector finishes an erasure whose process ended before removing the device from the audit', async () => {
  const running = openAll(folder())
  const erasure = deviceErased()
  const { accountId, deviceId } = erasure
  await running.store.appendAudit({
    id: '01KDVN9C000000000000000001',
    accountId,
    at: T0,
    action: 'device.changed',
    actor: { kind: 'operator', id: 'operator-1', name: 'ana@example.org' },
    subject: { kind: 'device', id: deviceId },
    details: { name: 'Name of a person' },
    address: '192.0.2.7',
    requestId: 'request-1',
  })
  await running.store.hideErased(erasure)
  running.project()
  await eventually(async () => {
    const { entries } = await running.store.pageAudit({ accountId, limit: 9 })
    return entries.length === 1 && entries[0]?.details === undefined
  })
  await running.close()
})

test('after a rebuild, account data from before an erasure no longer names the device', async () => {
  const directory = folder()
  const [first, again] = [positionReported(), positionReported()]
  const { accountId, deviceId } = first
  const device = { accountId, deviceId }
  const before = openAll(directory)
  await before.store.changeDeviceSettings({ ...device, name: 'Anna', changedAt: T0 })
  await before.close()
  const accounts = join(directory, 'accounts.sqlite')
  copyFileSync(accounts, join(directory, 'older.sqlite'))

  const erasing = openAll(directory)
  const erasure = deviceErased({ ...device, erasedAt: first.receivedAt + 1 })
  await erasing.eventLog.append([first])
  await erasing.eventLog.erase(erasure)
  await erasing.store.hideErased(erasure)
  await erasing.close()

  renameSync(join(directory, 'older.sqlite'), accounts)
  for (const file of readdirSync(directory)) {
    if (file.startsWith('read-models-')) rmSync(join(directory, file))
  }
  const after = openAll(directory)
  await after.eventLog.append([again])
  after.project()
  const found = await eventually(() => after.store.findDevice(device))
  expect(found).toMatchObject({ status: { reportCount: 1 } })
  expect(found.settings).not.toHaveProperty('name')
  await after.close()
})

function openAll(directory: string) {
  const logger = createLogger({ level: 'silent', name: 'test' })
  const lifecycle = new Lifecycle({ logger, deadlineMs: 10_000 })
  const eventLog = openSqliteEventLog({ file: join(directory, 'log.sqlite'), clock })
  const store = openSqliteStore({ directory })
  return {
    eventLog,
    store,
    project() {
      const program = { config: loadConfig({}), logger, metrics: createMetrics(), lifecycle }
      startProjector({ eventLog, store }, program)
    },
    async close() {
      await lifecycle.close()
      await store.close()
      await eventLog.close()
    },
  }
}
