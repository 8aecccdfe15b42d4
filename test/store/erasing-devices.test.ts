import { beforeEach, expect, test } from '@jest/globals'
import { join } from 'node:path'
import { Database } from '../../runtime/sqlite/database.ts'
import { ANNOUNCED_ERASURES, type AnnouncedErasure } from '../../store/back-office/kinds.ts'
import type { ErasedDevices } from '../../store/definitions.ts'
import type { DocumentStore } from '../../store/documents.ts'
import { erasingDevices } from '../../store/erasing-devices.ts'
import { makeTables, sqliteDocuments } from '../../store/sqlite/documents.ts'
import { closeAfterwards } from '../closing.ts'
import { ownDirectory } from '../own-directory.ts'
import { deviceErased, T0 } from '../samples.ts'

const erasure = deviceErased()
const { eventId } = erasure

let announced: DocumentStore<AnnouncedErasure>
let steps: string[]
/** The devices removed from definitions, call by call. */
let left: ErasedDevices[]
let isHidden: boolean
/** The step at which the process ends. */
let ends: string | undefined
let erasing: ReturnType<typeof erasingDevices>

beforeEach(async () => {
  const database = new Database(join(await ownDirectory(), 'accounts.sqlite'), [])
  closeAfterwards(() => database.close())
  makeTables(database, [ANNOUNCED_ERASURES])
  announced = sqliteDocuments(database)(ANNOUNCED_ERASURES)
  steps = []
  left = []
  ends = undefined
  isHidden = false
  const step = (name: string) => async () => {
    if (name === ends) throw new Error('the process ends')
    steps.push(name)
    // Until the last step is done, the erasure can be completed.
    if (!['forget', 'unshare'].includes(name)) {
      expect(await announced.get(eventId)).toBeDefined()
    }
  }
  erasing = erasingDevices({
    announced,
    hide: step('hide'),
    beginLife: step('begin'),
    forgetSettings: step('forget'),
    unshareDevice: step('unshare'),
    forgetInDefinitions: async (devices) => {
      await step('definitions')()
      left.push(devices)
    },
    forgetAuditDetails: step('audit'),
    forgetHandlings: step('handlings'),
    forgetRejections: step('rejections'),
    isHidden: async () => isHidden,
    clock: { now: () => T0 },
  })
})

test('a device is hidden before its next life starts', async () => {
  await erasing.announceErasure(erasure)
  await erasing.hideErased(erasure)
  expect(steps).toEqual(['hide', 'begin'])
})

test('an erasure stays pending until definitions, audit and rejected reports no longer contain the device', async () => {
  await erasing.announceErasure(erasure)
  await erasing.finishErasures()
  expect(steps).toEqual([])
  await erasing.hideErased(erasure)
  for (ends of ['definitions', 'audit', 'handlings', 'rejections'])
    await expect(erasing.finishErasures()).rejects.toThrow('ends')
  ends = undefined
  steps = []
  await erasing.finishErasures()
  expect(steps).toEqual(['definitions', 'audit', 'handlings', 'rejections'])
  expect(await announced.get(eventId)).toBeUndefined()
})

test.each(['hide', 'begin'])(
  'the projector completes an erasure that ended before the step "%s"',
  async (step) => {
    await erasing.announceErasure(erasure)
    ends = step
    await expect(erasing.hideErased(erasure)).rejects.toThrow('ends')
    ends = undefined
    steps = []
    await erasing.forgetErased(erasure)
    expect(steps).toEqual(['hide', 'begin'])
  },
)

test('a complete erasure is not repeated when its event arrives again', async () => {
  await erasing.announceErasure(erasure)
  await erasing.hideErased(erasure)
  const { accountId, deviceId } = erasure
  await erasing.finishErasures({ accountId, deviceId })
  isHidden = true
  steps = []
  await erasing.forgetErased(erasure)
  expect(steps).toEqual(['forget', 'unshare'])
  expect(await announced.get(eventId)).toBeUndefined()
})

test('an erasure unknown to the store is finished, too', async () => {
  await erasing.forgetErased(erasure)
  expect(await announced.get(eventId)).toMatchObject({ forgottenUpTo: erasure.erasedAt })
})

test('projecting an erasure does not wait for definitions; they are read once for all erased devices of an account', async () => {
  const erasures = ['van', 'tug', 'bus'].map((deviceId, n) =>
    deviceErased({
      accountId: n < 2 ? 'acc-1' : 'acc-2',
      deviceId,
      erasedAt: T0 - n,
      ...(n === 0 && { eventId }),
    }),
  )
  for (const one of erasures) await erasing.forgetErased(one)
  expect(steps).not.toContain('definitions')
  await erasing.finishErasures()
  const own = { 'acc-1': { van: T0, tug: T0 - 1 }, 'acc-2': { bus: T0 - 2 } }
  expect(
    Object.fromEntries(
      left.map(({ accountId, erased }) => [accountId, Object.fromEntries(erased)]),
    ),
  ).toEqual(own)
  expect(left).toHaveLength(2)
})
