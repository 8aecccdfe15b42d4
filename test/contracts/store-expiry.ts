import { expect } from '@jest/globals'
import type { PositionReported } from '../../schemas/events/position-reported.ts'
import { deviceErased, deviceSeen, positionReported, T0 } from '../samples.ts'
import type { StoreSuite } from './store-suite.ts'
import { allDevices, allPositions, batchOf, type PositionEntry } from './store-samples.ts'

export function expiryContract({ alone }: StoreSuite): void {
  alone(
    'retention removes records received before a time, and devices not seen since',
    async ({ store }) => {
      const ages = [0, 1_000, 2_000, 3_000]
      const entries = ages.flatMap((age, n) => [
        entry(n * 2, { deviceId: 'seen', receivedAt: T0 + age }),
        entry(n * 2 + 1, { deviceId: `only ${age}`, receivedAt: T0 + age, timestamp: T0 + 1e6 }),
      ])
      await store.project(batchOf(...(entries as [PositionEntry, ...PositionEntry[]])))
      for (const deviceId of ['only 0', 'only 2000']) {
        await store.changeDeviceSettings({
          accountId: 'acc-1',
          deviceId,
          name: 'buoy',
          changedAt: T0,
        })
      }
      await store.expire(T0 + 2_000)

      const devices = await allDevices(store, 'acc-1')
      expect(devices.map(({ status }) => status.deviceId)).toEqual([
        'only 2000',
        'only 3000',
        'seen',
      ])
      expect(devices.map(({ settings }) => settings.name)).toEqual(['buoy', undefined, undefined])
      expect(devices[2]?.status.reportCount).toBe(4)
      const left = await allPositions(store, 'acc-1', 'seen')
      expect(left.map(({ receivedAt }) => receivedAt - T0)).toEqual([2_000, 3_000])
      expect(await allPositions(store, 'acc-1', 'only 0')).toEqual([])

      await store.project(batchOf(entry(20, { deviceId: 'only 0', receivedAt: T0 + 9_000 })))
      const back = await store.findDevice({ accountId: 'acc-1', deviceId: 'only 0' })
      expect(back).toMatchObject({ status: { reportCount: 1 }, settings: { disabled: false } })
      expect(back?.settings.name).toBeUndefined()
    },
  )

  alone('retention keeps imported history by when it was received', async ({ store }) => {
    const imported = (offset: number, deviceId: string, receivedAt: number) =>
      entry(offset, { deviceId, receivedAt, timestamp: T0 - 1e9, imported: true })
    await store.project(batchOf(imported(0, 'old', T0 + 1_000), imported(1, 'new', T0 + 3_000)))
    await store.expire(T0 + 2_000)
    const [device, ...others] = await allDevices(store, 'acc-1')
    expect(others).toEqual([])
    expect(device?.status).toMatchObject({
      deviceId: 'new',
      lastSeenAt: T0 - 1e9,
      lastReceivedAt: T0 + 3_000,
    })
    expect(await allPositions(store, 'acc-1', 'new')).toHaveLength(1)
  })

  alone(
    'retention removes records, but no device that may have reported since its projection',
    async ({ store }) => {
      const device = { accountId: 'acc-1', deviceId: 'back' }
      const hidden = { accountId: 'acc-1', deviceId: 'hidden' }
      const times = { receivedAt: T0 + 1_000 }
      const [position, other] = [
        entry(0, { ...device, ...times }),
        entry(1, { ...hidden, ...times }),
      ]
      await store.project(batchOf(position, other))
      await store.changeDeviceSettings({ ...device, name: 'buoy', changedAt: T0 })
      await store.hideErased(deviceErased({ ...hidden, erasedAt: T0 + 1_500 }))
      await store.expire(T0 + 2_000, { seenBefore: T0 + 1_000 })
      expect(await allPositions(store, 'acc-1', 'back')).toEqual([])
      expect(await allDevices(store, 'acc-1')).toMatchObject([
        { status: { deviceId: 'back', reportCount: 1 }, settings: { name: 'buoy' } },
      ])
      await store.expire(T0 + 2_000, { seenBefore: T0 + 2_000 })
      expect(await allDevices(store, 'acc-1')).toEqual([])
    },
  )

  alone(
    'retention remembers an erasure two days longer than what it covers, as the log may',
    async ({ store }) => {
      const device = { accountId: 'acc-1', deviceId: 'erased' }
      const erasure = deviceErased({ ...device, erasedAt: T0 })
      const erased = {
        kind: 'erasure',
        origin: { partition: 0, offset: 0 },
        event: erasure,
      } as const
      const back = entry(1, { ...device, receivedAt: T0 + 9 * DAY_MS })
      await store.project(batchOf(erased, back))
      const asked = { accountId: 'acc-1', deviceIds: ['erased'] }
      await store.expire(T0 + 2 * DAY_MS)
      const withdrawn: PositionEntry = {
        ...entry(2, { ...device, receivedAt: T0 - 1 }),
        spooled: true,
      }
      await store.project(batchOf(withdrawn))
      expect(await store.findDevice(device)).toMatchObject({ status: { reportCount: 1 } })
      expect((await store.erasuresOf(asked)).size).toBe(1)
      await store.expire(T0 + 2 * DAY_MS + 1)
      expect((await store.erasuresOf(asked)).size).toBe(0)
    },
  )

  alone('a heartbeat keeps a device from expiring', async ({ store, log }) => {
    const reported = (deviceId: string, receivedAt: number) =>
      log.append(positionReported({ deviceId, receivedAt, timestamp: receivedAt }))
    await store.project(batchOf(reported('heard', T0), reported('silent', T0)))
    await store.project(batchOf(log.hear(deviceSeen({ deviceId: 'heard', receivedAt: T0 + 9 }))))
    await store.expire(T0 + 5)
    expect(await allDevices(store, 'acc-1')).toMatchObject([{ status: { deviceId: 'heard' } }])
    await store.expire(T0 + 10)
    await store.project(batchOf(reported('heard', T0 + 2)))
    const [back] = await allDevices(store, 'acc-1')
    expect(back?.status).toMatchObject({ reportCount: 1, lastSeenAt: T0 + 2 })
    expect(back?.status).not.toHaveProperty('heartbeats')
  })

  alone('retention stops early when told to, and continues in its next run', async ({ store }) => {
    const entries = [0, 1, 2].map((n) => entry(n, { deviceId: `old ${n}`, receivedAt: T0 }))
    await store.project(batchOf(...(entries as [PositionEntry, ...PositionEntry[]])))
    await store.expire(T0 + 1, { signal: AbortSignal.abort() })
    expect(await allDevices(store, 'acc-1')).toHaveLength(3)
    expect(await allPositions(store, 'acc-1', 'old 0')).toHaveLength(1)
    await store.expire(T0 + 1, { signal: new AbortController().signal })
    expect(await allDevices(store, 'acc-1')).toEqual([])
    expect(await allPositions(store, 'acc-1', 'old 0')).toEqual([])
  })

  alone('a disabled device expires too, and stays disabled', async ({ store }) => {
    const device = { accountId: 'acc-1', deviceId: 'lost' }
    await store.project(batchOf(entry(0, { deviceId: 'lost', receivedAt: T0 })))
    await store.changeDeviceSettings({
      ...device,
      name: 'buoy',
      expectedIntervalSeconds: 60,
      disabled: true,
      changedAt: T0,
    })
    await store.expire(T0 + 1)
    expect(await store.findDevice(device)).toBeUndefined()
    expect(await store.isDisabled(device)).toBe(true)
    await store.project(batchOf(entry(1, { deviceId: 'lost', receivedAt: T0 + 9 })))
    const back = await store.findDevice(device)
    expect(back?.settings).toEqual({ disabled: true })
  })

  alone('a disabled device that has expired can be enabled, and be erased', async ({ store }) => {
    const names = ['enabled', 'erased', 'neither'].map((deviceId) => ({
      accountId: 'acc-1',
      deviceId,
    }))
    const [enabled, erased, neither] = names as [Name, Name, Name]
    for (const device of names) {
      await store.changeDeviceSettings({ ...device, disabled: true, changedAt: T0 })
    }
    await store.changeDeviceSettings({ ...enabled, disabled: false, changedAt: T0 })
    await store.hideErased(deviceErased(erased))
    expect(await Promise.all(names.map((device) => store.isDisabled(device)))).toEqual([
      false,
      false,
      true,
    ])
    expect(await store.isDisabled({ ...neither, accountId: 'acc-2' })).toBe(false)
  })

  alone('retention removes any number of records', async ({ store }) => {
    for (let start = 0; start < 1_200; start += 600) {
      const offsets = Array.from({ length: 600 }, (_, n) => start + n)
      const entries = offsets.map((offset) => entry(offset, { receivedAt: T0 + offset }))
      await store.project(batchOf(...(entries as [PositionEntry, ...PositionEntry[]])))
    }
    await store.expire(T0 + 1_100)
    const left = await allPositions(store, 'acc-1', 'tracker-1')
    expect(Math.min(...left.map(({ receivedAt }) => receivedAt))).toBe(T0 + 1_100)
    expect(left).toHaveLength(100)
  })
}

const DAY_MS = 24 * 60 * 60 * 1_000

type Name = { readonly accountId: string; readonly deviceId: string }

function entry(offset: number, fields: Partial<PositionReported>): PositionEntry {
  return { kind: 'position', origin: { partition: 0, offset }, event: positionReported(fields) }
}
