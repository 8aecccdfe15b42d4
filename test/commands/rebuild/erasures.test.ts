import { expect, test } from '@jest/globals'
import { eventually } from '../../eventually.ts'
import { T0 } from '../../samples.ts'
import { rebuildableForEachTest } from './rebuild-harness.ts'

const here = rebuildableForEachTest()
const { append, caughtUp, counts, erase, expectEvery, rebuild } = here

test('a rebuild handles devices erased before or during it, and restores none', async () => {
  const erased = ['long before', 'just before', 'building', 'comparing', 'switched']
  for (const deviceId of [...erased, 'stays']) await append(40, deviceId)
  await erase('long before')
  await caughtUp()
  await append(3, 'just before')
  await erase('just before')
  // The current generation's projector may or may not have reached it before it ends.
  const eraseAndRestart = async (deviceId: string) => {
    await erase(deviceId)
    await here.stopProjector()
    here.startProjector()
  }
  const erasing = new Map<string, Promise<void>>()
  const outcome = await rebuild({
    screen: {
      write(text) {
        const step = erased.find((name) => text.startsWith(name))
        if (step !== undefined && !erasing.has(step)) erasing.set(step, eraseAndRestart(step))
      },
    },
  })
  await Promise.all(erasing.values())
  expect(erasing.size).toBe(3)
  expect(outcome).toMatchObject({ kind: 'switched', compared: { equal: true } })
  await caughtUp()
  await eventually(async () => Object.keys(await counts()).join() === 'stays')
  for (const deviceId of erased) await append(2, deviceId)
  await caughtUp()
  const afresh = Object.fromEntries(erased.map((deviceId) => [deviceId, [2, 2]]))
  expect(await counts()).toEqual({ ...afresh, stays: [40, 40] })
  expect(await rebuild()).toMatchObject({ kind: 'switched', compared: { equal: true } })
  expect(await counts()).toEqual({ ...afresh, stays: [40, 40] })
})

test('a rebuild that reaches an erasure before the projector drops the device’s settings', async () => {
  await append(1, 'before')
  await append(1, 'meanwhile')
  await caughtUp()
  await here.stopProjector()
  for (const deviceId of ['before', 'meanwhile', 'stays']) await expectEvery(deviceId, T0)
  await erase('before')
  let erasing: Promise<void> | undefined
  const screen = {
    write(text: string) {
      if (text.startsWith('comparing')) erasing = erase('meanwhile')
    },
  }
  // The new generation applies the erasure; the old one never does.
  const hold = () =>
    eventually(async () =>
      (await here.store.devicesWithInterval('acc-1')).every(
        ({ deviceId }) => deviceId !== 'meanwhile',
      ),
    )
  expect(await rebuild({ screen, hold })).toMatchObject({ kind: 'switched' })
  await erasing
  here.startProjector()
  await caughtUp()
  expect(await here.store.devicesWithInterval('acc-1')).toMatchObject([{ deviceId: 'stays' }])
})

test('a rebuild that reaches an old erasure keeps the device’s settings', async () => {
  await append(1)
  await erase('tracker-1')
  await caughtUp()
  // The projector's clock is behind that of the eraser.
  await expectEvery('tracker-1', T0 - 1)
  expect(await rebuild()).toMatchObject({ kind: 'switched' })
  expect(await here.store.devicesWithInterval('acc-1')).toMatchObject([{ deviceId: 'tracker-1' }])
})
