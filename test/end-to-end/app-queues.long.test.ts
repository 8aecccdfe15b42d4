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

/** How long the log takes nothing before the service is killed, which would wait longer for it. */
const BLOCKED_MS = 1_000

const suite = embeddedSuite()

test('the queues of all apps drain over a restart and a kill, with impossible points in them and answers lost', async () => {
  let service = await suite.start(operatorEnv())
  const { createKey } = await signIn(service.adminUrl)
  const { key } = await createKey()
  const stopping = new AbortController()
  const runs: Record<string, QueueRun> = {}
  for (const [name, app] of Object.entries<App>(APPS)) {
    runs[name] = runQueue({
      ...{ app, key: await createKey({ name }), items: recorded(app, 20, Date.now()) },
      ...{ url: () => service.ingestUrl, losesEvery: 7, signal: stopping.signal },
    })
  }
  const all = Object.values(runs)
  try {
    await eventually(() => all.every(({ waiting, items }) => waiting() < items.length), {
      withinMs: 30_000,
    })
    // So what comes now interrupts all of them.
    expect(all.every(({ waiting }) => waiting() > 0)).toBe(true)
    service.process.kill('SIGTERM')
    expect(await service.ended).toBe(0)
    service = await suite.start(operatorEnv())

    const log = new DatabaseSync(join(suite.path, 'log.sqlite'), { timeout: 5_000 })
    log.exec('BEGIN IMMEDIATE')
    await pause(BLOCKED_MS)
    // What it has taken since is written nowhere: nothing of it may have been acknowledged.
    service.process.kill('SIGKILL')
    await service.ended
    log.close()
    service = await suite.start(operatorEnv())

    await expectDelivered({ ...service, key }, runs, { withinMs: 60_000 })
  } finally {
    stopping.abort()
    await Promise.all(all.map(({ ended }) => ended))
  }
  expect(all.flatMap(({ failures }) => failures).filter((one) => one === 'no answer')).not.toEqual(
    [],
  )
}, 120_000)
