import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { startAdminApi } from '../../admin-api/service.ts'
import { openSqliteEventLog } from '../../event-log/sqlite/sqlite-event-log.ts'
import { systemClock as clock } from '../../runtime/clock.ts'
import { loadConfig } from '../../runtime/config/config.ts'
import { Lifecycle } from '../../runtime/lifecycle.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createMetrics } from '../../runtime/metrics.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import { eventually } from '../eventually.ts'
import { ownDirectory } from '../own-directory.ts'
import { freePort } from '../services/own-server.ts'

test('the admin API is ready once its first operator can sign in, and not before', async () => {
  const directory = await ownDirectory()
  const logger = createLogger({ level: 'silent', name: 'test' })
  const lifecycle = new Lifecycle({ logger, deadlineMs: 10_000 })
  const eventLog = openSqliteEventLog({ file: join(directory, 'log.sqlite'), clock })
  const opened = openSqliteStore({ directory })
  let goOn = () => {}
  const held = new Promise<void>((resolve) => (goOn = resolve))
  const store: typeof opened = {
    ...opened,
    async createFirstOperator(first) {
      await held
      return opened.createFirstOperator(first)
    },
  }
  const port = await freePort()
  const first = { email: 'ana@example.org', password: 'correct horse battery staple' }
  const config = loadConfig({
    ADMIN_PORT: String(port),
    ADMIN_EMAIL: first.email,
    ADMIN_PASSWORD: first.password,
  })
  const program = { config, logger, metrics: createMetrics(), lifecycle }
  const starting = startAdminApi({ store, eventLog, mode: 'distributed' }, program)

  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${port}${path}`, init).catch(() => undefined)
  const signIn = () =>
    ask('/api/v1/session', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(first),
    })
  await eventually(async () => (await ask('/healthz'))?.status === 200)
  const early = await ask('/readyz')
  expect(early?.status).toBe(503)
  expect(await early?.json()).toMatchObject({
    message: 'not ready: the first operator is not made yet',
  })
  expect((await signIn())?.status).toBe(401)

  goOn()
  await eventually(async () => (await ask('/readyz'))?.status === 200)
  expect((await signIn())?.status).toBe(200)
  await starting
  await lifecycle.close()
  await opened.close()
  await eventLog.close()
})
