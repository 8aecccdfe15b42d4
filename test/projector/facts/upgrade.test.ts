import { expect, test } from '@jest/globals'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import { closeAfterwards } from '../../closing.ts'
import { directoryForEachTest } from '../../directory-for-each-test.ts'
import { makeDataOf030 } from '../../fixtures/version-0.3.0/data-of-0.3.0.ts'
import {
  continueLog,
  expectSubscriptions,
  expectWentOn,
  factsIn,
  holdingIn,
  holdingOf,
  inOrder,
} from './continued-log.ts'

const directory = directoryForEachTest()

test('files of version 0.3.0 have the same facts, devices inside and raised rules', async () => {
  const { store, old } = openFilesOf030()
  expect(await factsIn(store)).toEqual(inOrder(old))
  expect(await holdingIn(store)).toEqual(holdingOf(old))
})

test('after a kill of version 0.3.0, judging continues from its files: each decision once, in sequences without gaps', async () => {
  const { store, old } = openFilesOf030()
  await continueLog(store).goOn()
  await expectWentOn(store, old)
})

test('subscriptions in files of version 0.3.0 keep their progress', async () => {
  await expectSubscriptions(openFilesOf030().store)
})

function openFilesOf030() {
  const old = makeDataOf030(directory())
  const store = openSqliteStore({ directory: directory() })
  closeAfterwards(() => store.close())
  return { store, old }
}
