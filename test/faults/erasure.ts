import { expect } from '@jest/globals'
import { adminReader } from '../admin-reader.ts'
import { eventually } from '../eventually.ts'
import type { Load } from './load.ts'

type Service = {
  readonly adminUrl: string
  readonly key: string
  eraseDevice(deviceId: string): Promise<unknown>
}

/**
 * Erases a device while it reports. Reports acknowledged before the erasure was requested must
 * never be visible again, and reports sent after its confirmation must be stored; those in flight
 * meanwhile may be either.
 */
export async function eraseUnderLoad(service: Service, load: Load, deviceId: string) {
  const ofDevice = (report: { deviceId: string }) => report.deviceId === deviceId
  await eventually(() => load.acknowledged.filter(ofDevice).length > 50, { withinMs: 60_000 })
  const before = load.acknowledged.filter(ofDevice).map(({ recordId }) => recordId)
  await eventually(() => service.eraseDevice(deviceId).then(() => true), { withinMs: 30_000 })
  const sentUntilThen = load.sent.filter(ofDevice).length

  return {
    before: before.length,

    /** Called after the load has stopped: waits for all expected records, then checks them. */
    async expectOnlyWhatCameAfter(): Promise<{ after: number; between: number }> {
      const api = adminReader(service)
      const later = new Set(
        load.sent
          .filter(ofDevice)
          .slice(sentUntilThen)
          .map(({ latitude, longitude }) => `${latitude} ${longitude}`),
      )
      const isLater = (report: { latitude: number; longitude: number }) =>
        later.has(`${report.latitude} ${report.longitude}`)
      const due = load.acknowledged.filter(ofDevice).filter(isLater)
      expect(due.length).toBeGreaterThan(0)
      const stored = await eventually(
        async () => {
          const found = await api.positionsIfAny(deviceId)
          const ids = new Set(found.map(({ recordId }) => recordId))
          return due.every(({ recordId }) => ids.has(recordId)) && found
        },
        { withinMs: 120_000, everyMs: 200 },
      )
      const ids = stored.map(({ recordId }) => recordId)
      expect(before.filter((recordId) => ids.includes(recordId))).toEqual([])
      expect(new Set(ids).size).toBe(ids.length)
      await eventually(async () => (await api.device(deviceId)).reportCount === ids.length, {
        withinMs: 30_000,
        everyMs: 200,
      })
      const afterwards = stored.filter(isLater).length
      return { after: afterwards, between: ids.length - afterwards }
    },
  }
}
