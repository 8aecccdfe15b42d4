import { beforeAll, describe, expect } from '@jest/globals'
import fc from 'fast-check'
import { compareOrigins } from '../../schemas/geo/position-order.ts'
import { OPTIONAL_FIELDS } from '../../schemas/report/report-fields.ts'
import type { PositionRecord, TrackStep } from '../../schemas/devices/read-models.ts'
import { ulid } from '../../schemas/events/record-id.ts'
import { positionReported, T0 } from '../samples.ts'
import type { StoreSuite } from './store-suite.ts'
import {
  allPositions,
  batchOf,
  newAccountId,
  ODD_DEVICE_IDS,
  type PositionEntry,
} from './store-samples.ts'

export function historyContract({ promise, shared, log, runs }: StoreSuite): void {
  describe('the history of a device', () => {
    const accountId = newAccountId()
    const deviceId = 'tracker-1'

    beforeAll(() => report(accountId, [3, 1, 2, 2, 2, 0, 5]))

    promise('a history is ordered by time and then by the log, in both directions', async () => {
      const asc = await shared.store.pagePositions({ accountId, deviceId, order: 'asc', limit: 99 })
      expect(asc.map(({ timestamp }) => timestamp - T0)).toEqual([0, 1, 2, 2, 2, 3, 5])
      expect(asc).toEqual([...asc].sort(byTime))
      const desc = await shared.store.pagePositions({
        accountId,
        deviceId,
        order: 'desc',
        limit: 99,
      })
      expect(desc).toEqual([...asc].reverse())
    })

    promise('a track is ordered by time and then by the log, page by page', async () => {
      const wanted = await allPositions(shared.store, accountId, deviceId)
      const seen: TrackStep[] = []
      for (let pages = 0; pages < 9; pages += 1) {
        const last = seen.at(-1)
        const page = await shared.store.pageTrack({
          accountId,
          deviceId,
          limit: 2,
          ...(last && { after: last }),
        })
        expect(page.length).toBeLessThanOrEqual(2)
        seen.push(...page)
      }
      expect(seen).toEqual(wanted.map(trackStep))
      const range = { accountId, deviceId, from: T0 + 1, to: T0 + 3, limit: 99 }
      const times = (await shared.store.pageTrack(range)).map(({ timestamp }) => timestamp - T0)
      expect(times).toEqual([1, 2, 2, 2])
      expect(await shared.store.pageTrack({ ...range, accountId: newAccountId() })).toEqual([])
    })

    promise(
      'of equal positions from two partitions, the one of the higher partition is last, whichever arrives first',
      async () => {
        for (const partitions of [
          [1, 2],
          [2, 1],
        ]) {
          const reader = newAccountId()
          const sent = { accountId: reader, deviceId, timestamp: T0, receivedAt: T0 }
          for (const partition of partitions) {
            const recordId = ulid(T0, Buffer.alloc(10, 9 - partition))
            await shared.store.project(
              batchOf(log.append(positionReported({ ...sent, recordId }), partition)),
            )
          }
          const device = await shared.store.findDevice({ accountId: reader, deviceId })
          const records = await allPositions(shared.store, reader, deviceId)
          expect(records.map(({ origin }) => origin.partition)).toEqual([1, 2])
          expect(device?.status.lastPosition.recordId).toBe(records[1]?.recordId)
        }
      },
    )

    promise('a track has each optional field in its column', async () => {
      const reader = newAccountId()
      const all = { accuracy: 1, altitude: 2, speed: 3, heading: 4, battery: 0.5 }
      const attributes = { fuel: 12.5, ignition: true, 'x.y': 'ü' }
      const history = { attributes, imported: true } as const
      const entries = [all, { speed: 0, ...history }, {}].map((fields, n) =>
        log.append(positionReported({ accountId: reader, deviceId, timestamp: T0 + n, ...fields })),
      )
      await shared.store.project(batchOf(...(entries as [PositionEntry, ...PositionEntry[]])))
      const records = await allPositions(shared.store, reader, deviceId)
      const steps = await shared.store.pageTrack({ accountId: reader, deviceId, limit: 9 })
      expect(steps).toEqual(records.map(trackStep))
      const recordIds = records.map(({ recordId }) => recordId)
      const track = await shared.store.findTrackPoints({ accountId: reader, deviceId, recordIds })
      expect(track).toEqual(records.map(trackPoint))
      expect(track.map((point) => point.slice(3, 10))).toEqual([
        [1, 2, 3, 4, 0.5, null, null],
        [null, null, 0, null, null, attributes, true],
        [null, null, null, null, null, null, null],
      ])
    })

    promise('a record and the last position have every field as it was reported', async () => {
      const reader = newAccountId()
      const attributes = {
        alarm: 'sos "ü" 🚜',
        constructor: 0.1 + 0.2,
        ignition: false,
        odometer: 2 ** 53,
        small: 5e-324,
        toString: '',
        'x.y-z_1': 1e300,
      }
      const entry = log.append(
        positionReported({ accountId: reader, deviceId, attributes, imported: true, battery: 0 }),
      )
      await shared.store.project(batchOf(entry))
      const [record] = await allPositions(shared.store, reader, deviceId)
      expect(record).toStrictEqual({ ...entry.event, origin: entry.origin })
      expect(JSON.stringify(record?.attributes)).toBe(JSON.stringify(attributes))
      const device = await shared.store.findDevice({ accountId: reader, deviceId })
      expect(device?.status.lastPosition).toMatchObject({ attributes, imported: true, battery: 0 })
    })

    promise(
      'the points shown by a track are in the order of the query, only of this device, without removed ones',
      async () => {
        const [first, second] = await allPositions(shared.store, accountId, deviceId)
        const other = log.append(positionReported({ accountId, deviceId: 'another' }))
        await shared.store.project(batchOf(other))
        const ids = [second, first].map((record) => record?.recordId ?? '')
        const recordIds = [ids[0] ?? '', 'nothing', other.event.recordId, ids[1] ?? '']
        const points = await shared.store.findTrackPoints({ accountId, deviceId, recordIds })
        expect(points.map((point) => point.at(-1))).toEqual(ids)
        const foreign = { accountId: newAccountId(), deviceId, recordIds }
        expect(await shared.store.findTrackPoints(foreign)).toEqual([])
      },
    )

    promise('a history goes from `from` inclusive to `to` exclusive', async () => {
      const times = async (bounds: { from?: number; to?: number }) => {
        const asc = await allTimes({ order: 'asc', ...bounds })
        expect(await allTimes({ order: 'desc', ...bounds })).toEqual([...asc].reverse())
        return asc
      }
      expect(await times({ from: T0 + 2 })).toEqual([2, 2, 2, 3, 5])
      expect(await times({ to: T0 + 2 })).toEqual([0, 1])
      expect(await times({ from: T0 + 1, to: T0 + 3 })).toEqual([1, 2, 2, 2])
      expect(await times({ from: T0 + 4, to: T0 + 5 })).toEqual([])
      expect(await times({ from: T0 + 3, to: T0 + 3 })).toEqual([])
      expect(await times({ from: T0 + 5, to: T0 })).toEqual([])
    })

    promise('a cursor from before the range continues at the start of the range', async () => {
      const after = { timestamp: T0, origin: { partition: 9, offset: 9_999 } }
      expect(await allTimes({ order: 'asc', from: T0 + 2, after })).toEqual([2, 2, 2, 3, 5])
      const late = { timestamp: T0 + 9, origin: { partition: 0, offset: 0 } }
      expect(await allTimes({ order: 'desc', to: T0 + 2, after: late })).toEqual([1, 0])
    })

    promise('pages neither skip nor repeat records, even while new ones arrive', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.nat(5), { minLength: 1, maxLength: 25 }),
          fc.array(fc.nat(5), { maxLength: 10 }),
          fc.integer({ min: 1, max: 7 }),
          fc.constantFrom('asc' as const, 'desc' as const),
          async (times, arriving, limit, order) => {
            const reader = newAccountId()
            await report(reader, times)
            const wanted = await allPositions(shared.store, reader, deviceId)
            const seen: PositionRecord[] = []
            const coming = [...arriving]
            for (let pages = 0; pages < 50; pages += 1) {
              const last = seen.at(-1)
              const page = await shared.store.pagePositions({
                accountId: reader,
                deviceId,
                order,
                limit,
                ...(last && { after: last }),
              })
              expect(page.length).toBeLessThanOrEqual(limit)
              seen.push(...page)
              if (page.length < limit) break
              const next = coming.pop()
              if (next !== undefined) await report(reader, [next])
            }
            const ids = seen.map(({ recordId }) => recordId)
            expect(new Set(ids).size).toBe(ids.length)
            expect(ids).toEqual(expect.arrayContaining(wanted.map(({ recordId }) => recordId)))
            const sorted = [...seen].sort(byTime)
            expect(seen).toEqual(order === 'asc' ? sorted : sorted.reverse())
          },
        ),
        { numRuns: runs(40) },
      )
    })

    promise('a history contains nothing of another account or device', async () => {
      const other = newAccountId()
      await report(other, [1, 2], [deviceId, 'tracker-10', 'tracker'])
      const records = await allPositions(shared.store, other, deviceId)
      expect(records.map((record) => [record.accountId, record.deviceId])).toEqual([
        [other, deviceId],
        [other, deviceId],
      ])
      const recordId = records[0]?.recordId ?? ''
      expect(await shared.store.findPosition({ accountId: other, recordId })).toBeDefined()
      expect(await shared.store.findPosition({ accountId, recordId })).toBeUndefined()
      expect(await shared.store.findPosition({ accountId: newAccountId(), recordId })).toBe(
        undefined,
      )
      expect(await allPositions(shared.store, newAccountId(), deviceId)).toEqual([])
    })

    promise('a record that was never stored is not found', async () => {
      expect(await shared.store.findPosition({ accountId, recordId: 'none' })).toBeUndefined()
    })

    promise('device ids are compared byte for byte', async () => {
      const odd = newAccountId()
      await report(odd, [1], ODD_DEVICE_IDS)
      for (const id of ODD_DEVICE_IDS) {
        const records = await allPositions(shared.store, odd, id)
        expect(records.map((record) => record.deviceId)).toEqual([id])
      }
      expect(await allPositions(shared.store, odd, 'truck\0 and more')).toEqual([])
    })

    async function report(account: string, times: readonly number[], devices = [deviceId]) {
      const entries = times.flatMap((time) =>
        devices.map((device) =>
          log.append(
            positionReported({ accountId: account, deviceId: device, timestamp: T0 + time }),
          ),
        ),
      )
      await shared.store.project(batchOf(...(entries as [PositionEntry, ...PositionEntry[]])))
    }

    async function allTimes(
      query: Partial<Parameters<typeof shared.store.pagePositions>[0]> & { order: 'asc' | 'desc' },
    ) {
      const page = await shared.store.pagePositions({ accountId, deviceId, limit: 99, ...query })
      return page.map(({ timestamp }) => timestamp - T0)
    }
  })
}

function byTime(a: PositionRecord, b: PositionRecord): number {
  if (a.timestamp !== b.timestamp) return a.timestamp - b.timestamp
  return compareOrigins(a.origin, b.origin)
}

function trackStep(record: PositionRecord): TrackStep {
  const { timestamp, latitude, longitude, speed = null, accuracy = null, recordId, origin } = record
  return { timestamp, latitude, longitude, speed, accuracy, recordId, origin }
}

function trackPoint(record: PositionRecord): readonly unknown[] {
  const { timestamp, latitude, longitude, recordId } = record
  return [
    ...[timestamp, latitude, longitude],
    ...OPTIONAL_FIELDS.map((name) => record[name] ?? null),
    recordId,
  ]
}
