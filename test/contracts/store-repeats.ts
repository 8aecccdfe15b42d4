import { expect } from '@jest/globals'
import { telemetryOf } from '../../schemas/devices/device-readings.ts'
import type { PositionReported } from '../../schemas/events/position-reported.ts'
import type { ProjectionEntry } from '../../store/read-models.ts'
import { deviceSeen, positionReported, T0 } from '../samples.ts'
import type { StoreSuite } from './store-suite.ts'
import { batchOf, deviceErased, newAccountId } from './store-samples.ts'

const MINUTE_MS = 60_000

/** Devices that send their last position again, with another battery. */
export function repeatsContract({ promise, shared, log }: StoreSuite): void {
  function given() {
    const device = { accountId: newAccountId(), deviceId: 'phone' }
    return {
      device,
      position: (minute: number, changes: Partial<PositionReported> = {}) =>
        positionReported({
          ...device,
          ...at(minute),
          timestamp: T0 + minute * MINUTE_MS,
          ...changes,
        }),
      heartbeat: (minute: number, battery: number, partition = 0) =>
        log.hear(deviceSeen({ ...device, ...at(minute), battery }), partition),
      erasure: (minute: number, partition = 0) =>
        log.erase(deviceErased({ ...device, erasedAt: T0 + minute * MINUTE_MS }), partition),
      project: (...entries: [ProjectionEntry, ...ProjectionEntry[]]) =>
        shared.store.project(batchOf(...entries)),
      status: async () => (await shared.store.findDevice(device))?.status,
      telemetry: async () => {
        const found = await shared.store.findDevice(device)
        return found && telemetryOf(found.status)
      },
    }
  }

  promise(
    'a repeat of a record counts as a heartbeat: one record, a later sighting and a newer battery',
    async () => {
      const { device, position, project, status, telemetry } = given()
      const first = position(1, { battery: 0.8 })
      const attributes = { charging: true, connection: 'mobile', 'x.y': 1.5 }
      const ping = { ...first, ...at(16), battery: 0.42, attributes, keyId: 'key-2' }
      const entries = [log.append(first), log.append(ping)] as const
      await project(entries[0])
      expect(await project(entries[1])).toMatchObject([{ stored: [], repeated: [entries[1]] }])
      for (const restarts of [false, true]) {
        if (restarts) await shared.reopen()
        expect(await status()).toMatchObject({
          reportCount: 1,
          lastSeenAt: at(16).receivedAt,
          lastKeyId: 'key-2',
          lastPosition: { recordId: first.recordId, receivedAt: first.receivedAt, battery: 0.8 },
        })
        expect(await telemetry()).toEqual({ ...at(16), battery: 0.42, attributes })
      }
      const query = { ...device, order: 'asc', limit: 9 } as const
      expect(await shared.store.pagePositions(query)).toMatchObject([first])
    },
  )

  promise('a repeat that is delivered again changes nothing, also after newer ones', async () => {
    const { position, project, status } = given()
    const first = position(1)
    const entries = [
      first,
      { ...first, ...at(3), battery: 0.4 },
      { ...first, ...at(5), battery: 0.3 },
    ].map((event) => log.append(event)) as [ProjectionEntry, ...ProjectionEntry[]]
    await project(...entries)
    const before = await status()
    await project(...entries)
    await shared.reopen()
    await project(entries[1]!)
    expect(await status()).toEqual(before)
  })

  promise(
    'a repeat in the batch of its record, and an imported one, count as they should',
    async () => {
      const { position, project, telemetry, status } = given()
      const first = position(1)
      const imported = { ...first, ...at(9), battery: 0.1, imported: true, keyId: 'key-9' } as const
      await project(
        log.append(first),
        log.append({ ...first, ...at(3), battery: 0.4 }),
        log.append(imported),
      )
      expect(await telemetry()).toEqual({ ...at(3), battery: 0.4 })
      expect(await status()).toMatchObject({ lastSeenAt: at(3).receivedAt, lastKeyId: 'key-1' })
    },
  )

  promise(
    'an import has no key of the device, and leaves the one that it reports with',
    async () => {
      const { position, project, status } = given()
      const history = (minute: number) =>
        log.append(position(minute, { ...at(90), imported: true, keyId: 'key-import' }))
      await project(history(1))
      expect(await status()).toMatchObject({ lastKeyId: '', lastReceivedAt: at(90).receivedAt })
      await project(log.append(position(50, { keyId: 'key-phone' })), history(2))
      expect(await status()).toMatchObject({ lastKeyId: 'key-phone' })
      await shared.reopen()
      expect(await status()).toMatchObject({ lastKeyId: 'key-phone', lastKeyAt: at(50).receivedAt })
    },
  )

  promise('an erasure takes the telemetry from before it', async () => {
    const { position, heartbeat, erasure, project, telemetry, status } = given()
    const first = position(1)
    await project(
      log.append(first),
      log.append({ ...first, ...at(3), battery: 0.4 }),
      heartbeat(4, 0.3),
      erasure(10),
    )
    expect(await status()).toBeUndefined()
    await project(log.append(position(11)))
    expect(await telemetry()).toBeUndefined()
    await project({ ...heartbeat(9, 0.2), spooled: true })
    expect(await telemetry()).toBeUndefined()
  })

  promise(
    'telemetry from another partition than an erasure stays if it was received later',
    async () => {
      const { position, heartbeat, erasure, project, telemetry } = given()
      await project(log.append(position(1)), heartbeat(30, 0.9))
      const last = position(12)
      await project(log.append(last, 1), log.append({ ...last, ...at(14), battery: 0.4 }, 1))
      await project(erasure(10))
      expect(await telemetry()).toEqual({ ...at(14), battery: 0.4 })
      await project(heartbeat(16, 0.3, 1))
      expect(await telemetry()).toEqual({ ...at(16), battery: 0.3 })
    },
  )
}

function at(minute: number) {
  return { receivedAt: T0 + minute * MINUTE_MS }
}
