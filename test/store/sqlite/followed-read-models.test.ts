import { expect, jest, test } from '@jest/globals'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import { batchOf, LogOfOneSuite } from '../../contracts/store-samples.ts'
import { directoryForEachTest } from '../../directory-for-each-test.ts'
import { fakeTimers } from '../../fake-timers.ts'
import { positionReported } from '../../samples.ts'

const directory = directoryForEachTest()

test('readers follow a switch within two seconds, and sooner once the new generation has caught up', async () => {
  fakeTimers('performance')
  const log = new LogOfOneSuite()
  const [first, second] = [log.append(positionReported()), log.append(positionReported())]
  const store = openSqliteStore({ directory: directory() })
  await store.project(batchOf(first, second))
  const count = async () => (await store.pageDevices({ accountId: 'acc-1', limit: 9 })).length

  // One generation that has not caught up, and one that has.
  for (const [entries, withinMs] of [
    [[], 2_000],
    [[first, second], 200],
  ] as const) {
    const before = await count()
    const rebuild = await store.beginRebuild()
    const built = await store.openGeneration(rebuild?.to ?? 0)
    for (const entry of entries) await built.project(batchOf(entry))
    await built.close()
    await rebuild?.switchOver()
    expect(await count()).toBe(before)
    for (let ms = 0; ms < withinMs; ms += 200) {
      jest.advanceTimersByTime(200)
      await count()
    }
    expect(await count()).toBe(entries.length === 0 ? 0 : 1)
    await rebuild?.end()
  }
  await store.close()
  jest.useRealTimers()
})
