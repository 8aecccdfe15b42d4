import { beforeAll, describe, expect, test } from '@jest/globals'
import { isListed } from '../../schemas/devices/device-id.ts'
import { liveness, type Device } from '../../schemas/devices/read-models.ts'
import { positionReported, T0 } from '../samples.ts'
import type { StoreSuite } from './store-suite.ts'
import { batchOf, deviceErased, newAccountId } from './store-samples.ts'

const MINUTE = 60_000
const NOW = T0 + 100 * MINUTE

/** `silent`: minutes since the last report. */
const FLEET: readonly { deviceId: string; silent: number; every?: number; disabled?: true }[] = [
  { deviceId: 'a-1', silent: 0 },
  { deviceId: 'a-2', silent: 5 },
  { deviceId: 'a-3', silent: 5.001, disabled: true },
  { deviceId: 'b-1', silent: 60 },
  { deviceId: 'b-2', silent: 60.001 },
  { deviceId: 'b-3', silent: 90, every: 3_600, disabled: true },
  { deviceId: 'c-1', silent: 1.01, every: 10 },
  { deviceId: 'c-2', silent: 5.01, every: 10 },
  { deviceId: 'c-3', silent: 99, disabled: true },
]

export function deviceCountsContract({ promise, shared, log }: StoreSuite): void {
  describe('counting devices', () => {
    const accountId = newAccountId()
    let fleet: Device[] = []

    beforeAll(async () => {
      for (const { deviceId, silent, every, disabled } of FLEET) {
        const receivedAt = NOW - silent * MINUTE
        const event = positionReported({ accountId, deviceId, receivedAt })
        await shared.store.project(batchOf(log.append(event)))
        if (every === undefined && disabled === undefined) continue
        await shared.store.changeDeviceSettings({
          accountId,
          deviceId,
          changedAt: T0,
          ...(every !== undefined && { expectedIntervalSeconds: every }),
          ...(disabled !== undefined && { disabled }),
        })
      }
      // Settings alone are no device, and another account's devices are its own.
      await shared.store.changeDeviceSettings({
        accountId,
        deviceId: 'd-none',
        changedAt: T0,
        disabled: true,
      })
      const other = positionReported({ accountId: newAccountId(), deviceId: 'a-1' })
      await shared.store.project(batchOf(log.append(other)))
      fleet = await shared.store.pageDevices({ accountId, limit: 100 })
      expect(fleet).toHaveLength(FLEET.length)
    })

    test.each([NOW, NOW + 4 * MINUTE, NOW + 70 * MINUTE, NOW + 1_000 * MINUTE])(
      'counting devices gives what looking at each one gives, at %s',
      async (now) => {
        expect(await shared.store.countDevices({ accountId, now })).toEqual(counted(fleet, now))
      },
    )

    test.each([[['a-*']], [['a-1', 'b-*', 'b-3', 'c-2']], [['zz']], [[]], [['*']]])(
      'counting the devices of a list %j counts nothing else',
      async (devices) => {
        const own = fleet.filter(({ status }) => isListed(devices, status.deviceId))
        const found = await shared.store.countDevices({ accountId, now: NOW, devices })
        expect(found).toEqual(counted(own, NOW))
      },
    )

    promise('an account without devices counts none', async () => {
      expect(await shared.store.countDevices({ accountId: newAccountId(), now: NOW })).toEqual({
        total: 0,
        online: 0,
        idle: 0,
        offline: 0,
        disabled: 0,
      })
    })

    promise(
      'counting leaves out erased devices, before and after the erasure is applied',
      async () => {
        const own = newAccountId()
        const plain = positionReported({ accountId: own, deviceId: 'x', receivedAt: NOW })
        const disabled = positionReported({ accountId: own, deviceId: 'y', receivedAt: NOW })
        await shared.store.project(batchOf(log.append(plain), log.append(disabled)))
        await shared.store.changeDeviceSettings({
          accountId: own,
          deviceId: 'y',
          changedAt: T0,
          disabled: true,
        })
        const count = () => shared.store.countDevices({ accountId: own, now: NOW })
        expect(await count()).toMatchObject({ total: 2, online: 2, disabled: 1 })
        for (const [deviceId, left] of [
          ['y', { total: 1, online: 1, disabled: 0 }],
          ['x', { total: 0, online: 0, disabled: 0 }],
        ] as const) {
          const event = deviceErased({ accountId: own, deviceId })
          await shared.store.hideErased(event)
          expect(await count()).toMatchObject(left)
          await shared.store.project(batchOf(log.erase(event)))
          expect(await count()).toMatchObject(left)
        }
      },
    )
  })
}

function counted(devices: readonly Device[], now: number) {
  const counts = { total: 0, online: 0, idle: 0, offline: 0, disabled: 0 }
  for (const device of devices) {
    counts.total += 1
    counts[liveness(device, now)] += 1
    if (device.settings.disabled) counts.disabled += 1
  }
  return counts
}
