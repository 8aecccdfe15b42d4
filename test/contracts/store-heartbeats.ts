import { expect } from '@jest/globals'
import { deviceStatus } from '../../projector/device-status.ts'
import type { DeviceStatus } from '../../schemas/devices/read-models.ts'
import type { ProjectionEntry, ReportEntry } from '../../store/read-models.ts'
import { deviceSeen, positionReported, T0 } from '../samples.ts'
import type { StoreSuite } from './store-suite.ts'
import { batchOf, canonical, deviceErased, newAccountId } from './store-samples.ts'

const MINUTE_MS = 60_000

/** Devices that reported without a position. */
export function heartbeatsContract({ promise, alone, shared, log }: StoreSuite): void {
  function given() {
    const accountId = newAccountId()
    const device = { accountId, deviceId: 'tracker-1' }
    return {
      device,
      position: (minute: number, partition = 0) =>
        log.append(positionReported({ ...device, ...times(minute) }), partition),
      heartbeat: (minute: number, partition = 0) =>
        log.hear(deviceSeen({ ...device, ...times(minute) }), partition),
      erasure: (minute: number, partition = 0) =>
        log.erase(deviceErased({ ...device, erasedAt: T0 + minute * MINUTE_MS }), partition),
      project: (...entries: [ProjectionEntry, ...ProjectionEntry[]]) =>
        shared.store.project(batchOf(...entries)),
      lastSeen: async (): Promise<number | undefined> => {
        const found = await shared.store.findDevice(device)
        return found && (found.status.lastSeenAt - T0) / MINUTE_MS
      },
    }
  }

  promise('a heartbeat is a change of its device', async () => {
    const { device, position, heartbeat, erasure, project } = given()
    const [first, second, third] = [position(1), heartbeat(2), heartbeat(3)]
    const one = deviceStatus(undefined, first)
    const two = deviceStatus(one, second)
    const three = deviceStatus(two, third)
    const none = { seen: [], repeated: [], erased: [] }
    expect((await project(first, second)).map(told)).toEqual([
      {
        ...device,
        before: undefined,
        after: two && canonical(two),
        ...none,
        stored: [first],
        seen: [second],
      },
    ])
    expect((await project(third)).map(told)).toEqual([
      {
        ...device,
        before: two && canonical(two),
        after: three && canonical(three),
        ...none,
        stored: [],
        seen: [third],
      },
    ])
    const [fourth, erased] = [heartbeat(4), erasure(10)]
    const [last, heard] = [position(11), heartbeat(12)]
    expect(await project(fourth, erased, last, heard)).toMatchObject([
      { stored: [last], seen: [heard] },
    ])
  })

  promise(
    'a heartbeat from a spool is withdrawn if it was received before an erasure',
    async () => {
      const { position, heartbeat, erasure, project, lastSeen } = given()
      await project(erasure(10), position(4))
      await project({ ...heartbeat(9), spooled: true })
      expect(await lastSeen()).toBe(4)
      await project({ ...heartbeat(11), spooled: true })
      expect(await lastSeen()).toBe(11)
    },
  )

  promise(
    'a heartbeat in another partition than an erasure stays if it was received later',
    async () => {
      const { position, heartbeat, erasure, project, lastSeen } = given()
      await project(position(1, 0), heartbeat(30, 0))
      await project(position(12, 1), heartbeat(14, 1), position(13, 1))
      await project(erasure(10, 0))
      expect(await lastSeen()).toBe(14)
      await project(heartbeat(9, 1))
      expect(await lastSeen()).toBe(14)
    },
  )

  alone('a heartbeat keeps a device from expiring', async ({ store, log }) => {
    const entries = ['heard', 'silent'].map((deviceId) =>
      log.append(positionReported({ deviceId, ...times(1) })),
    ) as [ReportEntry, ReportEntry]
    await store.project(batchOf(...entries))
    await store.project(batchOf(log.hear(deviceSeen({ deviceId: 'heard', ...times(9) }))))
    await store.expire(T0 + 5 * MINUTE_MS)
    const devices = await store.pageDevices({ accountId: 'acc-1', limit: 9 })
    expect(devices.map(({ status }) => status.deviceId)).toEqual(['heard'])
    await store.expire(T0 + 10 * MINUTE_MS)
    await store.project(batchOf(log.append(positionReported({ deviceId: 'heard', ...times(2) }))))
    const back = await store.findDevice({ accountId: 'acc-1', deviceId: 'heard' })
    expect(back?.status).toMatchObject({ reportCount: 1, lastSeenAt: T0 + 2 * MINUTE_MS })
    expect(back?.status).not.toHaveProperty('heartbeats')
  })
}

function times(minute: number) {
  return { timestamp: T0 + minute * MINUTE_MS, receivedAt: T0 + minute * MINUTE_MS }
}

function told({
  before,
  after,
  ...rest
}: {
  before: DeviceStatus | undefined
  after: DeviceStatus | undefined
}) {
  return { ...rest, before: before && canonical(before), after: after && canonical(after) }
}
