import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { Database } from '../../../runtime/sqlite/database.ts'
import type { DeviceSubscription } from '../../../schemas/subscriptions/subscription.ts'
import { definitionDocuments } from '../../../store/back-office/definition-documents.ts'
import { BACK_OFFICE, openBackOffice } from '../../../store/back-office/open-back-office.ts'
import { SUBSCRIPTIONS } from '../../../store/back-office/subscriptions.ts'
import { makeTables, sqliteDocuments } from '../../../store/sqlite/documents.ts'
import { newSubscription } from '../../contracts/store-subscriptions.ts'
import { T0 } from '../../samples.ts'

let database: Database
beforeEach(() => {
  database = new Database(':memory:', [])
  makeTables(database, BACK_OFFICE)
})
afterEach(() => database.close())

test('a subscription of version 0.3.0 keeps its mark, and a deliverer of that version does not touch it', async () => {
  const open = sqliteDocuments(database)
  const store = openBackOffice(open, {
    disabledDevices: () => Promise.resolve([]),
    livesOf: () => Promise.resolve(new Map()),
  })
  const before = definitionDocuments<DeviceSubscription>(open(SUBSCRIPTIONS))
  const made = newSubscription({ accountId: 'harbour' })
  const lease = { owner: 'a deliverer of 0.3.0', until: T0 + 10_000 }
  const progress = { ...made.progress, mark: 'far', failingSince: T0, lease }
  await before.insert([{ ...made, progress }])
  // Read by several processes, with the lease of a request that may be pending.
  const found = await Promise.all([1, 2, 3].map(() => store.findSubscription(made)))
  for (const one of found) expect(one).toEqual({ ...made, progress })
  const left = await before.get(made)
  expect(left?.progress.lease?.until).toBeGreaterThan(T0 + 365 * 24 * 3_600_000)
  await store.changeProgress(made, (current) => ({ ...current, mark: 'farther' }))
  // An admin API of 0.3.0 changes its fields, which count; progress stays this version's.
  await before.change(made, async (current) => ({
    next: { ...current, name: 'Renamed', revision: 2 },
  }))
  const renamed = { ...made, name: 'Renamed', revision: 2 }
  expect(await store.findSubscription(made)).toEqual({
    ...renamed,
    progress: { ...progress, mark: 'farther' },
  })
})
