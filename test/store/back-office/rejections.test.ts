import { expect, test } from '@jest/globals'
import { REJECTIONS_KEPT_MS } from '../../../schemas/report-rejected.ts'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import { closeAfterwards } from '../../closing.ts'
import { ownDirectory } from '../../own-directory.ts'
import { reportRejected, T0 } from '../../samples.ts'

test('refused reports expire by the clock, also when no other one is saved', async () => {
  const clock = { time: T0, now: () => clock.time }
  const store = openSqliteStore({ directory: await ownDirectory(), clock })
  closeAfterwards(() => store.close())
  const [old, young] = [T0, T0 + 1].map((receivedAt) => reportRejected({ receivedAt }))
  await store.saveRejections([old!, young!])
  clock.time = T0 + REJECTIONS_KEPT_MS + 1
  await store.expireRejections()
  // What is only hidden would show again.
  clock.time = T0
  const { accountId } = old!
  expect(await store.pageRejections({ accountId, limit: 9 })).toEqual([young])
})
