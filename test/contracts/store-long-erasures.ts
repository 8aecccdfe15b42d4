import { expect } from '@jest/globals'
import { countChanges } from '../../projector/projector.ts'
import type { PositionReported } from '../../schemas/events/position-reported.ts'
import type { ProjectionEntry } from '../../store/read-models.ts'
import type { Store } from '../../store/store.ts'
import { eventually } from '../eventually.ts'
import { positionReported } from '../samples.ts'
import { batchOf, deviceErased, everythingOf, type LogOfOneSuite } from './store-samples.ts'
import type { StoreSuite } from './store-suite.ts'

const REMOVED = { withinMs: 60_000, everyMs: 50 }

/** Erasures of histories that no store removes in one step. */
export function longErasuresContract({ alone }: StoreSuite): void {
  alone(
    'an erasure removes 2700 records, and nothing reported after it',
    async ({ store, log, storedRecords }) => {
      await reportHistory(store, log, 2_700)
      const erased = [...reports(log, 450), log.erase(deviceErased())]
      const kept = log.append(positionReported())
      await project(store, [...erased, kept])
      expect(await recordIds(store)).toEqual([kept.event.recordId])
      await eventually(async () => (await storedRecords()) === 1, REMOVED)
      expect(await recordIds(store)).toEqual([kept.event.recordId])
    },
  )

  alone(
    'a copy of an erasure removes nothing of a long history that came in between',
    async ({ store, log, storedRecords }) => {
      const event = deviceErased()
      await project(store, [...reports(log, 1), log.erase(event)])
      await reportHistory(store, log, 1_500)
      await project(store, [log.erase(event), log.erase(event)])
      const device = await store.findDevice(event)
      expect(device?.status.reportCount).toBe(1_500)
      await eventually(async () => (await storedRecords()) === 1_500, REMOVED)
    },
  )

  alone(
    'many erasures in one batch keep each device’s events after its own erasure',
    async ({ store, log, storedRecords }) => {
      const devices = Array.from({ length: 40 }, (_, n) => ({ deviceId: `tracker-${n}` }))
      const all = () => devices.flatMap((device) => reports(log, 1, device))
      await project(store, all())
      const erasures = () => devices.map((device) => log.erase(deviceErased(device)))
      const batch = [...all(), ...all(), ...erasures(), ...all()]
      const counted = async () => countChanges(await project(store, batch))
      expect(await counted()).toMatchObject({ stored: 40, repeated: 0 })
      // Delivered again, it erases nothing more.
      expect(await counted()).toMatchObject({ stored: 0 })
      const { statuses } = await everythingOf(store, 'acc-1')
      expect(statuses.map(({ reportCount }) => reportCount)).toEqual(Array(40).fill(1))
      await eventually(async () => (await storedRecords()) === 40, REMOVED)
    },
  )

  alone(
    'a process that ends during a long erasure leaves the device hidden, and the erasure is repeated',
    async ({ store, log, reopen, storedRecords }) => {
      await reportHistory(store, log, 3_500)
      const erasure = deviceErased()
      const [erased, after] = [log.erase(erasure), log.append(positionReported())]
      await store.hideErased(erasure)
      const generation = await store.openGeneration(1)
      const broken = generation.project(batchOf(erased)).catch(() => undefined)
      await new Promise(setImmediate)
      await generation.close()
      const next = await reopen()
      await broken
      expect(await everythingOf(next, 'acc-1')).toEqual({ statuses: [], records: [] })

      await project(next, [erased, after])
      const { statuses } = await everythingOf(next, 'acc-1')
      expect(statuses).toMatchObject([{ reportCount: 1 }])
      expect(await recordIds(next)).toEqual([after.event.recordId])
      await eventually(async () => (await storedRecords()) === 1, REMOVED)
    },
  )
}

async function reportHistory(store: Store, log: LogOfOneSuite, length: number): Promise<void> {
  for (let reported = 0; reported < length; reported += 450) {
    await project(store, reports(log, Math.min(450, length - reported)))
  }
}

function reports(log: LogOfOneSuite, length: number, fields: Partial<PositionReported> = {}) {
  return Array.from({ length }, () => log.append(positionReported(fields)))
}

function project(store: Store, entries: readonly ProjectionEntry[]) {
  return store.project(batchOf(...(entries as [ProjectionEntry, ...ProjectionEntry[]])))
}

async function recordIds(store: Store): Promise<string[]> {
  const { records } = await everythingOf(store, 'acc-1')
  return records.map(({ recordId }) => recordId)
}
