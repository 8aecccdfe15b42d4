import { afterEach, expect, test } from '@jest/globals'
import { APPS, type App } from '../app-queues/apps.ts'
import { expectDelivered } from '../app-queues/expect-delivered.ts'
import { recorded, runQueue, type QueueRun } from '../app-queues/run-queue.ts'
import { signIn, startEmbeddedDeployment, type Deployment } from '../deployments.ts'
import { eventually } from '../eventually.ts'

let deployment: Deployment | undefined
const stopping = new AbortController()
const runs: Record<string, QueueRun> = {}

afterEach(async () => {
  stopping.abort()
  await Promise.all(Object.values(runs).map(({ ended }) => ended))
  await deployment?.remove()
})

test('the queues of all apps drain over a restart, with impossible points in them and answers lost', async () => {
  let service = (deployment = await startEmbeddedDeployment())
  const { createKey } = await signIn(service.adminUrl)
  for (const [name, app] of Object.entries<App>(APPS)) {
    runs[name] = runQueue({
      ...{ app, key: await createKey({ name }), items: recorded(app, 20, Date.now()) },
      ...{ url: () => service.ingestUrl, losesEvery: 7, signal: stopping.signal },
    })
  }
  const all = Object.values(runs)
  await eventually(() => all.every(({ waiting, items }) => waiting() < items.length), {
    withinMs: 30_000,
  })
  const waiting = all.map((run) => run.waiting())
  service = deployment = await service.restart()
  // The queues were not empty before it.
  expect(waiting.every((items) => items > 0)).toBe(true)
  await expectDelivered(service, runs, { withinMs: 90_000 })
  expect(all.flatMap(({ failures }) => failures).filter((one) => one === 'no answer')).not.toEqual(
    [],
  )
}, 120_000)
