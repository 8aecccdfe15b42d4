import { expect, test } from '@jest/globals'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import type { WantedRetention } from '../../../store/retention.ts'
import { directoryForEachTest } from '../../directory-for-each-test.ts'

const directory = directoryForEachTest()

async function openedAs(owner?: { wanted: WantedRetention }): Promise<number | undefined> {
  const store = openSqliteStore({
    directory: directory(),
    ...(owner !== undefined && { retention: owner }),
  })
  try {
    return await store.retentionDays()
  } finally {
    await store.close()
  }
}

test('the retention is stored, and reported to processes that do not own it', async () => {
  expect(await openedAs()).toBeUndefined()
  expect(await openedAs({ wanted: undefined })).toBeUndefined()
  for (const days of [30, 7]) {
    expect(await openedAs({ wanted: days })).toBe(days)
    expect(await openedAs()).toBe(days)
  }
})

test('the owner of the retention cannot start without a value while one is stored, except with off', async () => {
  await openedAs({ wanted: 30 })
  await expect(openedAs({ wanted: undefined })).rejects.toMatchObject({
    retriable: false,
    message: expect.stringMatching(/30 days and RETENTION_DAYS is not set.* RETENTION_DAYS=off/),
  })
  expect(await openedAs()).toBe(30)
  expect(await openedAs({ wanted: 'off' })).toBeUndefined()
  expect(await openedAs({ wanted: undefined })).toBeUndefined()
})
