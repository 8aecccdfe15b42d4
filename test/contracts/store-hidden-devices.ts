import { expect } from '@jest/globals'
import type { DeviceErased } from '../../schemas/events/device-erased.ts'
import type { ProjectionEntry } from '../../store/read-models.ts'
import { eventually } from '../eventually.ts'
import { positionReported, T0 } from '../samples.ts'
import type { StoreSuite } from './store-suite.ts'
import { allDevices, allPositions, batchOf, deviceErased, newAccountId } from './store-samples.ts'

const DAY_MS = 24 * 60 * 60 * 1_000

export function hiddenDevicesContract({ promise, alone, shared, log }: StoreSuite): void {
  const deviceId = 'tracker-1'

  promise(
    'an erased device is absent from every read until the erasure is projected, then as it has reported since',
    async () => {
      const { accountId, recordId, erasure } = await reportedDevice()
      expect(await seen(accountId, recordId)).toEqual({ ways: 9 })
      await shared.store.hideErased(erasure)
      expect(await seen(accountId, recordId)).toEqual({ ways: 0 })
      const meanwhile = log.append(positionReported({ accountId }))
      await project(meanwhile)
      expect(await seen(accountId, recordId)).toEqual({ ways: 0 })
      expect(await seen(accountId, meanwhile.event.recordId)).toEqual({ ways: 0 })
      await shared.reopen()
      expect(await seen(accountId, recordId)).toEqual({ ways: 0 })

      await project(log.erase(erasure))
      expect(await seen(accountId, recordId)).toEqual({ ways: 0 })
      const after = log.append(positionReported({ accountId }))
      await project(after)
      expect(await seen(accountId, after.event.recordId)).toEqual({ ways: 9 })
      await shared.reopen()
      expect(await seen(accountId, after.event.recordId)).toEqual({ ways: 9 })
    },
  )

  promise('an erasure that was projected before it is hidden hides nothing', async () => {
    const { accountId, erasure } = await reportedDevice()
    const erased = log.erase(erasure)
    const after = log.append(positionReported({ accountId }))
    await project(erased, after)
    await shared.store.hideErased(erasure)
    await shared.store.hideErased(erasure)
    expect(await seen(accountId, after.event.recordId)).toEqual({ ways: 9 })
  })

  alone(
    'after a switch an erased device stays hidden until the new generation has projected the erasure',
    async ({ store, log: own }) => {
      const device = { accountId: 'acc-1', deviceId }
      const early = deviceErased({ deviceId: 'early' })
      const first = own.append(positionReported({ deviceId }))
      const marker = own.append(positionReported({ deviceId: 'marker' }), 7)
      const known = [first, own.append(positionReported({ deviceId: 'early' }))] as const
      await store.project(batchOf(...known))
      await store.hideErased(early)
      await store.project(batchOf(own.erase(early)))

      const rebuild = await store.beginRebuild()
      if (rebuild === undefined) throw new Error('a rebuild is in progress')
      const built = await store.openGeneration(rebuild.to)
      await built.project(batchOf(...known))
      await built.project(batchOf(marker))
      await rebuild.settleErasures()
      const erasure = deviceErased({ deviceId })
      await store.hideErased(erasure)
      const erased = own.erase(erasure)
      await store.project(batchOf(erased))
      // After another erasure the applied ones may be forgotten.
      await store.hideErased(deviceErased({ deviceId: 'another' }))
      await rebuild.switchOver()
      await eventually(
        async () => (await store.findDevice({ ...device, deviceId: 'marker' })) !== undefined,
      )
      await store.hideErased(deviceErased({ deviceId: 'one more' }))
      const { recordId } = first.event
      expect(await store.findDevice(device)).toBeUndefined()
      expect(await store.findPosition({ accountId: 'acc-1', recordId })).toBeUndefined()
      // Erasures applied before the rebuild's look-up are in the new generation, or never will be.
      expect(await store.findDevice({ ...device, deviceId: 'early' })).toBeDefined()

      const after = own.append(positionReported({ deviceId }))
      await built.project(batchOf(erased, after))
      await built.close()
      await rebuild.end()
      expect((await store.findDevice(device))?.status.reportCount).toBe(1)
    },
  )

  promise(
    'an erased device stays hidden while the second of two erasures is not projected',
    async () => {
      const { accountId, erasure } = await reportedDevice()
      const second = deviceErased({ accountId })
      await shared.store.hideErased(erasure)
      await shared.store.hideErased(second)
      const erased = log.erase(erasure)
      const between = log.append(positionReported({ accountId }))
      await project(erased, between)
      expect(await seen(accountId, between.event.recordId)).toEqual({ ways: 0 })
      const erasedAgain = log.erase(second)
      const after = log.append(positionReported({ accountId }))
      await project(erasedAgain, after)
      expect(await seen(accountId, after.event.recordId)).toEqual({ ways: 9 })
    },
  )

  promise('a hidden device has lost its operators’ settings', async () => {
    const { accountId, erasure } = await reportedDevice()
    const said = { name: 'Crane', disabled: true, expectedIntervalSeconds: 60, labels: ['tall'] }
    await shared.store.changeDeviceSettings({ accountId, deviceId, changedAt: T0, ...said })
    await shared.store.hideErased(erasure)
    expect(await shared.store.devicesWithInterval(accountId)).toEqual([])
    await project(log.erase(erasure), log.append(positionReported({ accountId })))
    const device = await shared.store.findDevice({ accountId, deviceId })
    expect(device?.settings).toEqual({ disabled: false })
  })

  alone(
    'an erased device is visible again when it reports, however long ago it was erased',
    async ({ store, log }) => {
      const erasure = deviceErased({ erasedAt: T0 + 1_000 })
      await store.project(batchOf(log.append(positionReported({ receivedAt: T0 }))))
      await store.hideErased(erasure)
      const erased = log.erase(erasure)
      const after = log.append(positionReported({ receivedAt: T0 + 3 * DAY_MS }))
      await store.project(batchOf(erased, after))
      await store.expire(T0 + 2 * DAY_MS + 5_000)
      expect(await store.erasuresOf({ accountId: 'acc-1', deviceIds: [deviceId] })).toEqual(
        new Map(),
      )
      expect(await allDevices(store, 'acc-1')).toHaveLength(1)
      expect(await allPositions(store, 'acc-1', deviceId)).toHaveLength(1)
    },
  )

  alone(
    'the current read models decide whether a device is hidden, not another generation',
    async ({ store, log }) => {
      const erasure = deviceErased()
      const [first, erased] = [log.append(positionReported()), log.erase(erasure)]
      const last = log.append(positionReported())
      await store.project(batchOf(first))
      await store.hideErased(erasure)
      const rebuild = await store.beginRebuild()
      const built = await store.openGeneration(rebuild?.to ?? 0)
      await built.project(batchOf(first, erased, last))
      await store.hideErased(deviceErased({ deviceId: 'another' }))
      expect(await allDevices(store, 'acc-1')).toEqual([])
      await store.project(batchOf(erased, last))
      expect(await allDevices(store, 'acc-1')).toHaveLength(1)
      await built.close()
      await rebuild?.end()
    },
  )

  promise(
    'a device’s erasures show the offset and time of the last, and whether one is pending',
    async () => {
      const { accountId, erasure } = await reportedDevice()
      const { erasedAt } = erasure
      const second = deviceErased({ accountId, erasedAt: erasedAt + 1 })
      const deviceIds = [deviceId, 'tracker-2', 'tracker-1\0', 'tracker-1\0 and more']
      const told = () => shared.store.erasuresOf({ accountId, deviceIds })
      expect(await told()).toEqual(new Map())
      await shared.store.hideErased(erasure)
      expect(await told()).toEqual(new Map([[deviceId, { pending: true, upTo: {}, erasedAt }]]))
      const applied = log.erase(erasure)
      await project(applied)
      const upTo = { [applied.origin.partition]: applied.origin.offset }
      expect(await told()).toEqual(new Map([[deviceId, { pending: false, upTo, erasedAt }]]))
      await project(log.append(positionReported({ accountId })))
      await shared.store.hideErased(second)
      expect(await told()).toEqual(
        new Map([[deviceId, { pending: true, upTo, erasedAt: erasedAt + 1 }]]),
      )
      const last = log.erase(second)
      await project(last)
      const further = {
        pending: false,
        erasedAt: erasedAt + 1,
        upTo: { [last.origin.partition]: last.origin.offset },
      }
      expect(await told()).toEqual(new Map([[deviceId, further]]))
      await project(applied)
      expect(await told()).toEqual(new Map([[deviceId, further]]))
      expect(
        await shared.store.erasuresOf({ accountId: newAccountId(), deviceIds: [deviceId] }),
      ).toEqual(new Map())
    },
  )

  /** A device with one record, and an erasure of it that has not been confirmed yet. */
  async function reportedDevice(): Promise<{
    accountId: string
    recordId: string
    erasure: DeviceErased
  }> {
    const accountId = newAccountId()
    const entry = log.append(positionReported({ accountId }))
    await project(entry)
    return { accountId, recordId: entry.event.recordId, erasure: deviceErased({ accountId }) }
  }

  async function project(...entries: [ProjectionEntry, ...ProjectionEntry[]]): Promise<void> {
    await shared.store.project(batchOf(...entries))
  }

  /** The number of the seven ways to read that find the device or this record of it. */
  async function seen(accountId: string, recordId: string): Promise<{ ways: number }> {
    const { store } = shared
    const found = await Promise.all([
      store.findDevice({ accountId, deviceId }),
      store.findDevices({ accountId, deviceIds: [deviceId] }).then((all) => all[0]),
      allDevices(store, accountId).then((all) => all[0]),
      store.findPosition({ accountId, recordId }),
      allPositions(store, accountId, deviceId).then((all) =>
        all.find((record) => record.recordId === recordId),
      ),
      store
        .pageTrack({ accountId, deviceId, limit: 1000 })
        .then((all) => all.find((step) => step.recordId === recordId)),
      store.findTrackPoints({ accountId, deviceId, recordIds: [recordId] }).then((all) => all[0]),
      store
        .findLastPositions({ accountId, deviceIds: [deviceId], before: T0 + DAY_MS })
        .then((all) => all.find((record) => record.recordId === recordId)),
      near(accountId),
    ])
    return { ways: found.filter((one) => one !== undefined).length }
  }

  /** The first step of the device, whose records are all within an hour. */
  async function near(accountId: string) {
    const { tracks } = await shared.store.readNear({
      accountId,
      deviceIds: [deviceId],
      following: [deviceId],
      boxes: [{ west: -180, south: -90, east: 180, north: 90 }],
      from: T0,
      to: T0 + DAY_MS,
      limit: 100,
    })
    return tracks.get(deviceId)?.[0]
  }
}
