import { expect } from '@jest/globals'
import fc from 'fast-check'
import { countChanges } from '../../projector/projector.ts'
import { deviceStatus } from '../../projector/device-status.ts'
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
    'the later one of two erasures decides which records of another partition are gone',
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
    'projecting an erasure leaves operators’ settings of the device',
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
    'any sequence of reports, heartbeats and erasures, however delivered, leaves what follows the last erasure',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 1, maxLength: 40 }),
          cuts,
          async (steps, ends) => {
            const accountId = newAccountId()
            const entries = steps.map(({ device, kind, repeats }) => {
              const named = { accountId, deviceId: `tracker-${device}` }
              if (kind === 'erasure') return log.erase(deviceErased(named))
              if (kind === 'seen') {
                const receivedAt = T0 + repeats * 3_600_000
                const sent = { receivedAt, keyId: `key-${repeats}`, battery: repeats / 10 }
                return log.hear(deviceSeen({ ...named, ...sent }))
              }
              const recordId = `01KDVN9C00${String(device * 10 + repeats).padStart(16, '0')}`
              return report({ ...named, recordId, keyId: `key-${repeats}`, battery: 0.9 })
            })
            let start = 0
            const rest = { forward: entries.length, back: 3, restart: false }
            for (const { forward, back, restart } of [...ends, rest]) {
              if (restart) await shared.reopen()
              const [head, ...tail] = entries.slice(Math.max(0, start - back), start + forward)
              if (head !== undefined) await project(head, ...tail)
              start += forward
            }
            const left = model(entries)
            expect(await everything(accountId)).toEqual(left)
            const kept = new Set(left.records.map(({ recordId }) => recordId))
            for (const { kind, event } of entries) {
              if (kind !== 'position') continue
              const found = await shared.store.findPosition(event)
              expect(found !== undefined).toBe(kept.has(event.recordId))
            }
          },
        ),
        { numRuns: 40 },
      )
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

const step = fc.record({
  device: fc.nat(2),
  kind: fc.constantFrom(...(['position', 'position', 'seen', 'erasure'] as const)),
  repeats: fc.nat(4),
})

const cuts = fc.array(
  fc.record({
    forward: fc.integer({ min: 1, max: 8 }),
    back: fc.nat(4),
    restart: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  }),
  { maxLength: 10 },
)

type PositionBatch = [PositionEntry, ...PositionEntry[]]

/** The content of an account in which only these entries were reported. */
function only(...entries: PositionEntry[]) {
  return model(entries)
}

/** The same sequence, kept in memory. */
function model(entries: readonly ProjectionEntry[]) {
  const devices = new Map<string, { status?: DeviceStatus; records: Map<string, PositionEntry> }>()
  for (const entry of entries) {
    const { deviceId } = entry.event
    const device = devices.get(deviceId) ?? { records: new Map<string, PositionEntry>() }
    if (entry.kind === 'erasure') {
      devices.delete(deviceId)
    } else if (entry.kind === 'seen') {
      if (device.status) device.status = deviceStatus(device.status, entry)!
    } else if (device.records.has(entry.event.recordId)) {
      device.status = deviceStatus(device.status, { ...entry, kind: 'repeat' })!
    } else {
      device.records.set(entry.event.recordId, entry)
      devices.set(deviceId, { ...device, status: deviceStatus(device.status, entry) })
    }
  }
  const sorted = [...devices].sort(([a], [b]) => (a < b ? -1 : 1))
  return {
    statuses: sorted.flatMap(([, { status }]) => (status === undefined ? [] : [canonical(status)])),
    records: sorted.flatMap(([, { records }]) =>
      [...records.values()]
        .map(({ event, origin }) => ({ ...event, origin }))
        .sort((a, b) => a.timestamp - b.timestamp),
    ),
  }
}
