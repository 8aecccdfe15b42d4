import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, test } from '@jest/globals'
import { APPS, type App } from '../app-queues/apps.ts'
import { expectDelivered } from '../app-queues/expect-delivered.ts'
import { recorded, runQueue, type QueueRun } from '../app-queues/run-queue.ts'
import { operatorEnv, signIn } from '../deployments.ts'
import { embeddedSuite } from '../embedded-suite.ts'
import { eventually } from '../eventually.ts'

/** How long the log accepts nothing before the kill; the service itself would wait longer. */
const BLOCKED_MS = 1_000
const SOON = { withinMs: 30_000 }

const suite = embeddedSuite()

test("all apps' queues drain despite a restart, a kill, impossible points and lost responses", async () => {
  let started = suite.start(operatorEnv())
  const { adminUrl } = await started
  const { createKey } = await signIn(adminUrl)
  const { key } = await createKey()
  const stopping = new AbortController()
  const runs: Record<string, QueueRun> = {}
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  for (const [name, app] of Object.entries<App>(APPS)) {
    runs[name] = runQueue({
      app,
      key: await createKey({ name }),
      items: recorded(app, 20, Date.now()),
      url: async () => (await started).ingestUrl,
      losesEvery: 7,
      released,
      signal: stopping.signal,
    })
  }
  const all = Object.values(runs)
  try {
    await eventually(() => all.every(({ waiting, items }) => waiting() < items.length), SOON)
    const begun = all.map(({ waiting }) => waiting())
    release()
    await eventually(() => all.some(({ waiting }, app) => waiting() < begun[app]!), SOON)
    // So the next fault interrupts all of them.
    expect(all.every(({ waiting }) => waiting() > 0)).toBe(true)
    const first = await started
    started = first.ended.then(() => suite.start(operatorEnv()))
    first.process.kill('SIGTERM')
    expect(await first.ended).toBe(0)

    const second = await started
    const log = new DatabaseSync(join(suite.path, 'log.sqlite'), { timeout: 5_000 })
    log.exec('BEGIN IMMEDIATE')
    await pause(BLOCKED_MS)
    // Nothing accepted since then is on disk, so none of it may have been acknowledged.
    started = second.ended.then(() => {
      log.close()
      return suite.start(operatorEnv())
    })
    second.process.kill('SIGKILL')

    await expectDelivered({ ...(await started), key }, runs, { withinMs: 90_000 })
  } finally {
    stopping.abort()
    release()
    await Promise.all(all.map(({ ended }) => ended))
  }
  expect(
    all.flatMap(({ failures }) => failures).filter((one) => one === 'no response'),
  ).not.toEqual([])
})
