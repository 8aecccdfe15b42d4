import { expect, test } from '@jest/globals'
import type { EventLog } from '../../event-log/event-log.ts'
import { projectRejections } from '../../projector/project-rejections.ts'
import { DependencyError } from '../../runtime/errors.ts'
import type { Store } from '../../store/store.ts'
import { eventually } from '../eventually.ts'
import { deviceErased, reportRejected, T0 } from '../samples.ts'
import { logAndStoreForEachTest } from './log-and-store.ts'

let eventLog: EventLog
let store: Store

logAndStoreForEachTest((opened) => ({ eventLog, store } = opened))

const kept = () => store.pageRejections({ accountId: 'acc-1', limit: 100 })

async function whileProjecting(
  work: () => Promise<void>,
  saveRejections: Store['saveRejections'] = (events) => store.saveRejections(events),
): Promise<void> {
  const stop = new AbortController()
  const { rejections } = eventLog
  const running = projectRejections({
    rejections,
    store: { ...store, saveRejections },
    signal: stop.signal,
  })
  try {
    await work()
  } finally {
    stop.abort()
    await running
  }
}

test('rejected reports are projected from their log into the store, each once', async () => {
  const first = [reportRejected({ body: '{' }), reportRejected({ deviceId: 'tracker-1' })]
  const later = reportRejected({ count: 7 })
  await eventLog.rejections.append(first)
  await whileProjecting(async () => {
    await eventually(async () => (await kept()).length === 2)
  })
  await whileProjecting(async () => {
    await eventLog.rejections.append([later])
    await eventually(async () => (await kept()).length === 3)
  })
  expect((await kept()).reverse()).toEqual([...first, later])
})

test('while the store is unavailable nothing is skipped', async () => {
  let failures = 2
  const events = [reportRejected(), reportRejected()]
  await eventLog.rejections.append(events)
  await whileProjecting(
    async () => {
      await eventually(async () => (await kept()).length === 2)
    },
    async (batch) => {
      failures -= 1
      if (failures >= 0) throw new DependencyError('the store is away', { retriable: true })
      await store.saveRejections(batch)
    },
  )
  expect(failures).toBeLessThan(0)
})

test("rejected reports from before their device's erasure are not stored after it", async () => {
  const erasedAt = T0 + 60_000
  await store.hideErased(deviceErased({ deviceId: 'van', erasedAt }))
  const at = (receivedAt: number, deviceId?: string, accountId = 'acc-1') =>
    reportRejected({ receivedAt, accountId, ...(deviceId !== undefined && { deviceId }) })
  const left = [at(erasedAt + 1, 'van'), at(erasedAt, 'bus'), at(erasedAt)]
  await eventLog.rejections.append([at(erasedAt, 'van'), ...left, at(erasedAt, 'van', 'acc-2')])
  await whileProjecting(async () => {
    const theirs = () => store.pageRejections({ accountId: 'acc-2', limit: 9 })
    await eventually(async () => (await kept()).length + (await theirs()).length >= 4)
    expect(new Set(await kept())).toEqual(new Set(left))
  })
})
