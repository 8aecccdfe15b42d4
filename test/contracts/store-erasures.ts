import { expect } from '@jest/globals'
import { countChanges } from '../../projector/projector.ts'
import { deviceStatus } from '../../projector/device-status.ts'
import { telemetryOf } from '../../schemas/devices/device-readings.ts'
import { deviceSeen, positionReported, T0 } from '../samples.ts'
import type { DeviceStatus } from '../../schemas/devices/read-models.ts'
import type { ProjectionEntry } from '../../store/read-models.ts'
import type { StoreSuite } from './store-suite.ts'
import {
  batchOf,
  canonical,
  deviceErased,
  everythingOf,
  newAccountId,
  type PositionEntry,
} from './store-samples.ts'

export function erasuresContract({ promise, alone, shared, log }: StoreSuite): void {
  const deviceId = 'tracker-1'

  promise('an erasure removes nothing of another device or account', async () => {
    const [mine, theirs] = [newAccountId(), newAccountId()]
    const others = ['tracker-10', 'tracker', 'Tracker-1', '%'].map((deviceId) =>
      report({ accountId: mine, deviceId }),
    )
    await project(report({ accountId: mine }), report({ accountId: theirs }), ...others)
    const untouched = await everything(theirs)
    await project(log.erase(deviceErased({ accountId: mine })))
    expect(await everything(theirs)).toEqual(untouched)
    expect(untouched.records).toHaveLength(1)
    const { statuses, records } = await everything(mine)
    expect(new Set(statuses.map((status) => status.deviceId))).toEqual(
      new Set(others.map(({ event }) => event.deviceId)),
    )
    expect(records).toHaveLength(others.length)
  })

  alone(
    'an erasure removes records of another partition received before it was requested, in any order',
    async ({ store, log }) => {
      const elsewhere = (receivedAt: number) =>
        log.append(positionReported({ timestamp: T0, receivedAt }), 3)
      const reports = [T0 + 5_000, T0 + 6_000, T0 + 5_001].map(elsewhere) as PositionBatch
      const erasure = log.erase(deviceErased({ erasedAt: T0 + 5_000 }), 1)
      const [, ...kept] = reports
      await store.project(batchOf(...reports))
      for (const batch of [batchOf(erasure), batchOf(erasure), batchOf(...reports)]) {
        await store.project(batch)
        const { statuses, records } = await everythingOf(store, 'acc-1')
        expect(statuses).toEqual(only(...kept).statuses)
        expect(new Set(records)).toEqual(new Set(only(...kept).records))
      }

      const rebuild = await store.beginRebuild()
      const built = await store.openGeneration(rebuild?.to ?? 0)
      await built.project(batchOf(erasure))
      await built.project(batchOf(...reports))
      const [status] = await built.pageStatuses({ accountId: 'acc-1', limit: 9 })
      expect(status && canonical(status)).toEqual(only(...kept).statuses[0])
      await built.close()
      await rebuild?.end()

      const [late, last] = [elsewhere(T0 + 5_000), elsewhere(T0 + 9_500)]
      await store.project(batchOf(late, last))
      const { statuses } = await everythingOf(store, 'acc-1')
      expect(statuses).toEqual(only(...kept, last).statuses)
    },
  )

  promise(
    'the later of two erasures decides which records of another partition are removed',
    async ({ accountId }) => {
      const erasure = (erasedAt: number) => log.erase(deviceErased({ accountId, erasedAt }))
      await project(erasure(T0 + 1_000), erasure(T0 + 5_000))
      const event = positionReported({ accountId, timestamp: T0, receivedAt: T0 + 3_000 })
      expect(countChanges(await project(log.append(event, 3)))).toMatchObject({
        stored: 0,
        repeated: 0,
      })
      expect(await everything(accountId)).toEqual({ statuses: [], records: [] })
    },
  )

  promise(
    'projecting an erasure keeps operators’ settings of the device',
    async ({ accountId }) => {
      const said = { name: 'Ferry', disabled: true, expectedIntervalSeconds: 30 }
      await project(report({ accountId }))
      await shared.store.changeDeviceSettings({ accountId, deviceId, changedAt: T0, ...said })
      await project(log.erase(deviceErased({ accountId })), report({ accountId }))
      const device = await shared.store.findDevice({ accountId, deviceId })
      expect(device).toMatchObject({ status: { reportCount: 1 }, settings: said })
    },
  )

  alone(
    'an erasure in another generation removes nothing of the current one',
    async ({ store, log }) => {
      const first = log.append(positionReported())
      const [erasure, second] = [log.erase(deviceErased()), log.append(positionReported())]
      await store.project(batchOf(first))
      const rebuild = await store.beginRebuild()
      const built = await store.openGeneration(rebuild?.to ?? 0)
      await built.project(batchOf(first, erasure, second))
      expect(await everythingOf(store, 'acc-1')).toEqual(only(first))
      const [status] = await built.pageStatuses({ accountId: 'acc-1', limit: 9 })
      expect(status && canonical(status)).toEqual(only(second).statuses[0])
      const records = []
      for await (const chunk of built.scanRecords({ accountId: 'acc-1' })) records.push(...chunk)
      expect(records).toEqual(only(second).records)

      const asked = { accountId: 'acc-1', deviceIds: ['tracker-1', 'tracker-2'] }
      const used = await store.openGeneration(1)
      expect(await built.erasedUpTo(asked)).toEqual(new Map([['tracker-1', { 0: 1 }]]))
      expect(await used.erasedUpTo(asked)).toEqual(new Map())
      expect(await built.erasedUpTo({ ...asked, accountId: 'acc-2' })).toEqual(new Map())
      await Promise.all([built.close(), used.close()])
      await rebuild?.end()
    },
  )

  promise(
    'signs of life from another partition than an erasure stay if they were received later',
    async ({ accountId }) => {
      const at = (receivedAt: number) => ({ accountId, receivedAt: T0 + receivedAt })
      const last = positionReported({ ...at(12), timestamp: T0 + 12 })
      const seen = (receivedAt: number, battery: number, partition = 0) =>
        log.hear(deviceSeen({ ...at(receivedAt), battery }), partition)
      await project(report({ ...at(1) }), seen(30, 0.9))
      await project(
        log.append(last, 1),
        seen(13, 0.5, 1),
        log.append({ ...last, ...at(14), battery: 0.4 }, 1),
      )
      await project(log.erase(deviceErased({ accountId, erasedAt: T0 + 10 })))
      const status = async () => (await shared.store.findDevice({ accountId, deviceId }))?.status
      const latest = { lastSeenAt: T0 + 14, reportCount: 1 }
      expect(await status()).toMatchObject(latest)
      expect(telemetryOf((await status())!)).toEqual({ receivedAt: T0 + 14, battery: 0.4 })
      await project(seen(9, 0.1, 1))
      await project({ ...seen(9, 0.1), spooled: true })
      expect(await status()).toMatchObject(latest)
      await project(seen(16, 0.3, 1))
      expect(telemetryOf((await status())!)).toEqual({ receivedAt: T0 + 16, battery: 0.3 })
    },
  )

  function report(fields: Parameters<typeof positionReported>[0]): PositionEntry {
    return log.append(positionReported(fields))
  }

  function project(...entries: [ProjectionEntry, ...ProjectionEntry[]]) {
    return shared.store.project(batchOf(...entries))
  }

  function everything(accountId: string) {
    return everythingOf(shared.store, accountId)
  }
}

type PositionBatch = [PositionEntry, ...PositionEntry[]]

/** The content of an account in which only these entries of a device were reported. */
function only(...entries: PositionEntry[]) {
  const status = entries.reduce<DeviceStatus | undefined>(deviceStatus, undefined)
  return {
    statuses: status === undefined ? [] : [canonical(status)],
    records: entries.map(({ event, origin }) => ({ ...event, origin })),
  }
}
