import { expect } from '@jest/globals'
import { adminReader, latestPosition, type PositionView } from '../admin-reader.ts'
import { eventually } from '../eventually.ts'
import type { Load } from './load.ts'

/** The consequences of a fault, for the table. */
export type Outcome = {
  readonly acknowledged: number
  readonly stored: number
  readonly missing: number
  readonly doubled: number
}

/**
 * Waits until everything acknowledged can be read, then checks that each acknowledged record is
 * stored once, that nothing else is stored, and that every device's status is the fold over its
 * records.
 */
export async function expectExactlyOnce(
  service: { adminUrl: string; key: string },
  load: Pick<Load, 'acknowledged' | 'sent'>,
  { withinMs = 60_000 }: { withinMs?: number } = {},
): Promise<Outcome> {
  const api = adminReader(service)
  const devices = [...new Set(load.sent.map(({ deviceId }) => deviceId))]
  const read = async () => {
    const stored: PositionView[] = []
    for (const deviceId of devices) {
      // A 503 asks for a retry; reads one device at a time to add little load.
      stored.push(...(await eventually(() => api.positionsIfAny(deviceId), { withinMs })))
    }
    return stored
  }
  const acknowledged = new Map(load.acknowledged.map((report) => [report.recordId, report]))
  const missingFrom = (found: readonly { recordId: string }[]) => {
    const ids = new Set(found.map(({ recordId }) => recordId))
    return [...acknowledged.keys()].filter((recordId) => !ids.has(recordId)).length
  }
  let stored = await read()
  const deadline = Date.now() + withinMs
  while (missingFrom(stored) > 0 && Date.now() < deadline) stored = await read()
  const missing = missingFrom(stored)
  const doubled = stored.length - new Set(stored.map(({ recordId }) => recordId)).size
  expect({ missing, doubled }).toEqual({ missing: 0, doubled: 0 })

  const sent = new Set(load.sent.map(identity))
  expect(stored.filter((record) => !sent.has(identity(record)))).toEqual([])
  for (const record of stored) {
    const report = acknowledged.get(record.recordId)
    if (report !== undefined) expect(identity(record)).toBe(identity(report))
  }
  for (const deviceId of devices) {
    await eventually(
      async () => {
        const positions = await api.positionsIfAny(deviceId)
        if (positions.length === 0) return true
        const status = await api.device(deviceId)
        expect(status.reportCount).toBe(positions.length)
        expect(latestPosition(positions)).toMatchObject(status.lastPosition)
        const seen = positions.map(({ receivedAt }) => receivedAt).sort()
        expect(status.lastSeenAt).toBe(seen.at(-1))
        return true
      },
      { withinMs, everyMs: 200 },
    )
  }
  return { acknowledged: acknowledged.size, stored: stored.length, missing, doubled }
}

function identity(report: {
  deviceId: string
  latitude: number
  longitude: number
  timestamp: string
}): string {
  return [report.deviceId, report.latitude, report.longitude, report.timestamp].join(' ')
}
