import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { startAdminApi } from '../../admin-api/service.ts'
import { openSqliteEventLog } from '../../event-log/sqlite/sqlite-event-log.ts'
import { systemClock as clock } from '../../runtime/clock.ts'
import { loadConfig } from '../../runtime/config/config.ts'
import { Lifecycle } from '../../runtime/process/lifecycle.ts'
import { createLogger } from '../../runtime/process/logger.ts'
import { createMetrics } from '../../runtime/process/metrics.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import { newApiKey } from '../../schemas/access/api-key.ts'
import { eventually } from '../eventually.ts'
import { ownDirectory } from '../own-directory.ts'
import { rawConnection } from '../raw-connection.ts'
import { NO_FACTS } from './admin-harness.ts'
import { positionReported } from '../samples.ts'
import { freePort } from '../services/own-server.ts'

test('the admin API is ready once its first operator can sign in, and not before', async () => {
  const directory = await ownDirectory()
  const warned: unknown[] = []
  const logger = Object.assign(createLogger({ level: 'silent', name: 'test' }), {
    warn: (...line: unknown[]) => warned.push(line),
  })
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
    MAP_PMTILES: 'Town=/no/such.pmtiles',
  })
  const program = { config, logger, metrics: createMetrics(), lifecycle }
  const starting = startAdminApi(
    { store, eventLog, factLog: NO_FACTS, mode: 'distributed' },
    program,
  )

  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${port}${path}`, init).catch(() => undefined)
  const signIn = () =>
    ask('/api/v1/session', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(first),
    })
  await eventually(async () => (await ask('/healthz'))?.status === 200)
  const map = { map: 'Town', file: '/no/such.pmtiles', reason: 'there is no such file' }
  await eventually(() => warned.length > 0)
  expect(warned).toEqual([[map, 'a map of MAP_PMTILES cannot be shown']])
  const early = await ask('/readyz')
  expect(early?.status).toBe(503)
  expect(await early?.json()).toMatchObject({
    message: 'not ready: the first operator does not exist yet',
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

test('pipelined requests of a client are handled one after the other', async () => {
  const directory = await ownDirectory()
  const logger = createLogger({ level: 'silent', name: 'test' })
  const lifecycle = new Lifecycle({ logger, deadlineMs: 10_000 })
  const eventLog = openSqliteEventLog({ file: join(directory, 'log.sqlite'), clock })
  const opened = openSqliteStore({ directory })
  const asked: (() => void)[] = []
  const store: typeof opened = {
    ...opened,
    async findGrant() {
      await new Promise<void>((goOn) => asked.push(goOn))
      return undefined
    },
  }
  const config = loadConfig({ ADMIN_PORT: '0', ADMIN_EMAIL: 'a@b', ADMIN_PASSWORD: 'x'.repeat(12) })
  const program = { config, logger, metrics: createMetrics(), lifecycle }
  const { url } = await startAdminApi(
    { store, eventLog, factLog: NO_FACTS, mode: 'distributed' },
    program,
  )

  const get = `GET /api/v1/devices HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${newApiKey()}\r\n\r\n`
  const { socket, received } = rawConnection(url, get.repeat(5))
  for (let answered = 0; answered < 5; answered += 1) {
    await eventually(() => asked.length === answered + 1)
    // The queued requests had as much time to start as ten requests of another client.
    for (let turn = 0; turn < 10; turn += 1) await (await fetch(`${url}/healthz`)).text()
    expect(asked).toHaveLength(answered + 1)
    asked[answered]?.()
    await eventually(() => received().split('HTTP/1.1 401').length === answered + 2)
  }
  socket.destroy()
  await lifecycle.close()
  await opened.close()
  await eventLog.close()
})

test('while the service reads erasures from the log, it serves no data, but is healthy', async () => {
  const directory = await ownDirectory()
  const logger = createLogger({ level: 'silent', name: 'test' })
  const lifecycle = new Lifecycle({ logger, deadlineMs: 10_000 })
  const eventLog = openSqliteEventLog({ file: join(directory, 'log.sqlite'), clock })
  await eventLog.append([positionReported()])
  let goOn = () => {}
  const held = new Promise<void>((resolve) => (goOn = resolve))
  const slow: typeof eventLog = {
    ...eventLog,
    async *tail(options) {
      await held
      yield* eventLog.tail(options)
    },
  }
  const store = openSqliteStore({ directory })
  const config = loadConfig({ ADMIN_PORT: '0' })
  const program = { config, logger, metrics: createMetrics(), lifecycle }
  const { url } = await startAdminApi(
    { store, eventLog: slow, factLog: NO_FACTS, mode: 'distributed' },
    program,
  )
  const statusOf = async (path: string) => (await fetch(url + path)).status
  for (const path of ['/readyz', '/api/v1/devices', '/api/v1/shared', '/api/v1/stream']) {
    expect(await statusOf(path)).toBe(503)
  }
  expect(await (await fetch(`${url}/api/v1/devices`)).json()).toMatchObject({
    message: 'the service is still reading erasures from the log, please try again',
  })
  expect(await statusOf('/healthz')).toBe(200)
  expect(await statusOf('/api/v1/session')).toBe(401)
  goOn()
  await eventually(async () => (await statusOf('/api/v1/devices')) === 401)
  await lifecycle.close()
  await store.close()
  await eventLog.close()
})
