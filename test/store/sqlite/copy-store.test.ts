import { readdirSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { copyDatabase } from '../../../commands/backup/copy-database.ts'
import { copySqliteStore } from '../../../store/sqlite/copy-store.ts'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import type { Store } from '../../../store/store.ts'
import { account, batchOf, LogOfOneSuite } from '../../contracts/store-samples.ts'
import { directoryForEachTest } from '../../directory-for-each-test.ts'
import { positionReported } from '../../samples.ts'

const directory = directoryForEachTest()
let store: Store
let log: LogOfOneSuite

beforeEach(async () => {
  await mkdir(to())
  store = openSqliteStore({ directory: directory() })
  await store.beginFacts({})
  log = new LogOfOneSuite()
})

afterEach(() => store.close())

test('the read models are copied before the accounts, and the rejected reports last', async () => {
  const made = account()
  await store.createAccount(made)
  const entry = log.append(positionReported({ accountId: made.id }))
  await store.project(batchOf(entry))
  expect(await copyStore()).toEqual([
    'read-models-1.sqlite',
    'accounts.sqlite',
    'facts.sqlite',
    'rejections.sqlite',
  ])
  const copied = openSqliteStore({ directory: to() })
  expect(await copied.findAccount(made.id)).toEqual(made)
  expect(await copied.findPosition(entry.event)).toMatchObject(entry.event)
  await copied.close()
})

test('if a rebuild switches meanwhile, the copy has its read models', async () => {
  const [old, fresh] = [log.append(positionReported()), log.append(positionReported())]
  await store.project(batchOf(old))
  const names = await copyStore(async (name) => {
    if (name !== 'read-models-1.sqlite') return
    const rebuild = await store.beginRebuild()
    const built = await store.openGeneration(2)
    await built.project(batchOf(old, fresh))
    await built.close()
    await rebuild?.switchOver()
    await rebuild?.end()
  })
  expect(names).toEqual([
    'read-models-2.sqlite',
    'accounts.sqlite',
    'facts.sqlite',
    'rejections.sqlite',
  ])
  const copies = readdirSync(to()).filter((name) => name.endsWith('.sqlite'))
  expect(new Set(copies)).toEqual(new Set(names))
  const copied = openSqliteStore({ directory: to() })
  expect(await copied.findPosition(fresh.event)).toMatchObject(fresh.event)
  await copied.close()
})

test('a store of an earlier version, without facts, is copied without them', async () => {
  const before = openSqliteStore({ directory: join(directory(), 'before') })
  const copied: string[] = []
  await copySqliteStore({ from: join(directory(), 'before'), to: to() }, async (name) => {
    await copyDatabase(join(directory(), 'before', name), join(to(), name), () => undefined)
    copied.push(name)
  })
  expect(copied).toEqual(['read-models-1.sqlite', 'accounts.sqlite', 'rejections.sqlite'])
  await before.close()
})

test('a folder without a store is not copied', async () => {
  await expect(copySqliteStore({ from: to(), to: to() }, async () => undefined)).rejects.toThrow(
    'accounts.sqlite) failed: Failed to open database: unable to open',
  )
})

function to(): string {
  return join(directory(), 'copy')
}

/** `before`: comes before each file. */
function copyStore(before: (name: string) => Promise<void> = async () => undefined) {
  return copySqliteStore({ from: directory(), to: to() }, async (name) => {
    await before(name)
    await copyDatabase(join(directory(), name), join(to(), name), () => undefined)
  })
}
