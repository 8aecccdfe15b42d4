import { randomBytes } from 'node:crypto'
import { expect } from '@jest/globals'
import type { Device } from '../../schemas/devices/read-models.ts'
import { positionReported, T0 } from '../samples.ts'
import type { StoreSuite } from './store-suite.ts'
import {
  account,
  allDevices,
  apiKey,
  batchOf,
  deviceErased,
  newAccountId,
  ODD_DEVICE_IDS,
  type PositionEntry,
} from './store-samples.ts'

export function devicesContract({ promise, shared, log }: StoreSuite): void {
  promise(
    'each device is found under its exact id, with its own settings',
    async ({ accountId }) => {
      await report(accountId, ODD_DEVICE_IDS)
      for (const [n, deviceId] of ODD_DEVICE_IDS.entries()) {
        await shared.store.changeDeviceSettings({
          accountId,
          deviceId,
          name: `number ${n}`,
          changedAt: T0,
        })
      }
      for (const [n, deviceId] of ODD_DEVICE_IDS.entries()) {
        const device = await shared.store.findDevice({ accountId, deviceId })
        expect(device?.status.deviceId).toBe(deviceId)
        expect(device?.settings).toEqual({ name: `number ${n}`, disabled: false })
      }
      const listed = await allDevices(shared.store, accountId)
      const names = new Map(listed.map(({ status, settings }) => [status.deviceId, settings.name]))
      expect(names).toEqual(new Map(ODD_DEVICE_IDS.map((id, n) => [id, `number ${n}`])))
    },
  )

  promise('a device that never reported is absent', async ({ accountId }) => {
    await report(accountId, ['b'])
    await shared.store.changeDeviceSettings({
      accountId,
      deviceId: 'a',
      name: 'ordered',
      changedAt: T0,
    })
    expect(await shared.store.findDevice({ accountId, deviceId: 'a' })).toBeUndefined()
    expect(await shared.store.findDevice({ accountId, deviceId: 'c' })).toBeUndefined()
    expect(await allDevices(shared.store, accountId)).toHaveLength(1)
    expect(await allDevices(shared.store, newAccountId())).toEqual([])
    await report(accountId, ['a'])
    const device = await shared.store.findDevice({ accountId, deviceId: 'a' })
    expect(device?.settings).toEqual({ name: 'ordered', disabled: false })
  })

  promise('a setting that is not named stays, and null removes it', async ({ accountId }) => {
    const deviceId = 'tracker-1'
    const change = (fields: object) =>
      shared.store.changeDeviceSettings({ accountId, deviceId, changedAt: T0, ...fields })
    await report(accountId, [deviceId])
    expect((await find(accountId, deviceId))?.settings).toEqual({ disabled: false })
    expect(await change({ name: 'Ferry' })).toEqual({ name: 'Ferry', disabled: false })
    const all = { name: 'Ferry', disabled: true, expectedIntervalSeconds: 30 }
    expect(await change({ disabled: true, expectedIntervalSeconds: 30 })).toEqual(all)
    expect(await change({})).toEqual(all)
    expect((await find(accountId, deviceId))?.settings).toEqual(all)
    expect(await change({ name: null, disabled: false })).toEqual({
      disabled: false,
      expectedIntervalSeconds: 30,
    })
    expect(await change({ expectedIntervalSeconds: null })).toEqual({ disabled: false })
    expect((await find(accountId, deviceId))?.settings).toEqual({ disabled: false })
  })

  promise(
    'an operator’s settings survive new reports of the device, and a restart',
    async ({ accountId }) => {
      const deviceId = 'tracker-1'
      await report(accountId, [deviceId])
      await shared.store.changeDeviceSettings({
        accountId,
        deviceId,
        name: 'Crane',
        disabled: true,
        changedAt: T0,
      })
      await report(accountId, [deviceId])
      await shared.reopen()
      const device = await find(accountId, deviceId)
      expect(device?.settings).toEqual({ name: 'Crane', disabled: true })
      expect(device?.status.reportCount).toBe(2)
    },
  )

  promise('no result contains anything of another account', async () => {
    const [mine, theirs] = [newAccountId(), newAccountId()]
    await report(mine, ['shared', 'mine'])
    await report(theirs, ['shared', 'theirs'])
    await shared.store.changeDeviceSettings({
      accountId: theirs,
      deviceId: 'shared',
      name: 'Their name',
      disabled: true,
      changedAt: T0,
    })
    expect(await find(mine, 'theirs')).toBeUndefined()
    const devices = await allDevices(shared.store, mine)
    expect(devices.map(({ status }) => [status.accountId, status.deviceId])).toEqual([
      [mine, 'mine'],
      [mine, 'shared'],
    ])
    expect(devices.map(({ settings }) => settings)).toEqual([
      { disabled: false },
      { disabled: false },
    ])
    expect((await find(mine, 'shared'))?.settings).toEqual({ disabled: false })
  })

  promise('devices found in one call are the same as found one by one', async () => {
    const [accountId, other] = [newAccountId(), newAccountId()]
    await report(accountId, ODD_DEVICE_IDS)
    await report(other, ['theirs'])
    await shared.store.changeDeviceSettings({
      accountId,
      deviceId: 'truck',
      changedAt: T0,
      name: 'Truck 1',
    })
    const absent = ['theirs', 'none', 'truck\0', 'truck\0 and more', '']
    const deviceIds = [...ODD_DEVICE_IDS, ...absent, 'truck']
    const found = await shared.store.findDevices({ accountId, deviceIds })
    const alone = await Promise.all(ODD_DEVICE_IDS.map((deviceId) => find(accountId, deviceId)))
    expect(found).toHaveLength(ODD_DEVICE_IDS.length)
    expect(new Set(found)).toEqual(new Set(alone))
    expect(await shared.store.findDevices({ accountId, deviceIds: [] })).toEqual([])
    expect(await find(accountId, 'truck\0 and more')).toBeUndefined()
  })

  promise(
    'devices with an expected interval are listed, whether they have reported or not',
    async () => {
      const [accountId, other] = [newAccountId(), newAccountId()]
      const expectEvery = (
        deviceId: string,
        expectedIntervalSeconds: number | null,
        of = accountId,
      ) =>
        shared.store.changeDeviceSettings({
          accountId: of,
          deviceId,
          changedAt: T0,
          expectedIntervalSeconds,
        })
      await report(accountId, ['reported', 'silent about it'])
      await expectEvery('reported', 30)
      await expectEvery('ordered 😀', 0.5)
      await expectEvery('taken back', 30)
      await expectEvery('taken back', null)
      await expectEvery('theirs', 30, other)
      await shared.store.changeDeviceSettings({
        accountId,
        deviceId: 'named',
        changedAt: T0,
        name: 'Buoy',
      })
      const devices = await shared.store.devicesWithInterval(accountId)
      expect(devices).toHaveLength(2)
      expect(devices).toContainEqual({ deviceId: 'reported', expectedIntervalSeconds: 30 })
      expect(devices).toContainEqual({ deviceId: 'ordered 😀', expectedIntervalSeconds: 0.5 })
      expect(await shared.store.devicesWithInterval(newAccountId())).toEqual([])
    },
  )

  promise(
    'hundreds of devices with an interval are all listed, and other work continues meanwhile',
    async ({ accountId }) => {
      const deviceIds = Array.from({ length: 260 }, (_, index) => `buoy-${index}`)
      const change = { accountId, changedAt: T0, expectedIntervalSeconds: 30 }
      const save = (deviceId: string) => shared.store.changeDeviceSettings({ ...change, deviceId })
      for (let at = 0; at < deviceIds.length; at += 50) {
        await Promise.all(deviceIds.slice(at, at + 50).map(save))
      }
      let turns = 0
      // A timer may fire late for a turn of less than a millisecond.
      let counting = setImmediate(function count() {
        turns += 1
        counting = setImmediate(count)
      })
      const devices = await shared.store.devicesWithInterval(accountId)
      clearImmediate(counting)
      expect(devices.map(({ deviceId }) => deviceId).sort()).toEqual(deviceIds.sort())
      expect(turns).toBeGreaterThan(0)
    },
  )

  promise('operators’ settings are removed, unless one was set later', async () => {
    const [accountId, other] = [newAccountId(), newAccountId()]
    const deviceId = 'tracker-1'
    const say = (changedAt: number, name: string, of = accountId) =>
      shared.store.changeDeviceSettings({ accountId: of, deviceId, changedAt, name })
    const forget = (erasedAt: number) =>
      shared.store.forgetErased(deviceErased({ accountId, deviceId, erasedAt }))
    await report(accountId, [deviceId])
    await report(other, [deviceId])
    await forget(T0)
    await say(T0 + 5, 'Ferry')
    await say(T0 + 5, 'Theirs', other)
    await forget(T0 + 4)
    expect((await find(accountId, deviceId))?.settings.name).toBe('Ferry')
    await forget(T0 + 5)
    expect((await find(accountId, deviceId))?.settings).toEqual({ disabled: false })
    expect((await find(other, deviceId))?.settings.name).toBe('Theirs')

    // The second caller's clock was behind; the last change still counts as later.
    await say(T0 + 9, 'Tug')
    await say(T0 + 7, 'Tug boat')
    await forget(T0 + 8)
    expect((await find(accountId, deviceId))?.settings.name).toBe('Tug boat')
    await forget(T0 + 9)
    expect((await find(accountId, deviceId))?.settings).toEqual({ disabled: false })
  })

  promise(
    'a grant says whether the account is suspended and which devices are disabled',
    async () => {
      const [own, other] = [account(), account()]
      const [accountId, hash] = [own.id, randomBytes(32)]
      for (const made of [own, other]) await shared.store.createAccount(made)
      await shared.store.createKey(apiKey({ accountId }), hash)
      const change = (deviceId: string, disabled: boolean, of = accountId) =>
        shared.store.changeDeviceSettings({ accountId: of, deviceId, disabled, changedAt: T0 })
      await change('lost 😀', true)
      await change('back', true)
      await change('back', false)
      await change('theirs', true, other.id)
      await shared.store.suspendAccount({ accountId: other.id, suspended: true })
      expect(await shared.store.findGrant(hash)).toMatchObject({
        accountSuspended: false,
        disabledDevices: new Set(['lost 😀']),
      })
      await shared.store.suspendAccount({ accountId, suspended: true })
      expect((await shared.store.findGrant(hash))?.accountSuspended).toBe(true)
      await shared.store.suspendAccount({ accountId, suspended: false })
      expect((await shared.store.findGrant(hash))?.accountSuspended).toBe(false)
    },
  )

  async function report(accountId: string, deviceIds: readonly string[]): Promise<void> {
    const entries = deviceIds.map((deviceId) =>
      log.append(positionReported({ accountId, deviceId })),
    )
    await shared.store.project(batchOf(...(entries as [PositionEntry, ...PositionEntry[]])))
  }

  function find(accountId: string, deviceId: string): Promise<Device | undefined> {
    return shared.store.findDevice({ accountId, deviceId })
  }
}
