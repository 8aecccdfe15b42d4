import { describe, expect } from '@jest/globals'
import fc from 'fast-check'
import { readVisits } from '../../admin-api/devices/visits/read-visits.ts'
import { areasOf } from '../../schemas/geo/area.ts'
import { positionReported, T0 } from '../samples.ts'
import type { StoreSuite } from './store-suite.ts'
import { batchOf, newAccountId, type PositionEntry } from './store-samples.ts'

const METRE = 1 / 111_194.9266

/** A record, in metres to the north of the middle of the area. */
type Sent = {
  readonly device: number
  readonly minute: number
  readonly north: number
  readonly accuracy: number
}

type Stay = readonly [deviceId: string, from: number, to: number, open: string, lastInside: number]

export function pastContract({ shared, promise, log, runs }: StoreSuite): void {
  describe('the past of many devices', () => {
    const accountId = newAccountId()

    promise('the last records before a time are those of each device by its history', async () => {
      await report([
        { deviceId: 'a', timestamp: T0 + 2 },
        { deviceId: 'a', timestamp: T0 + 1 },
        { deviceId: 'a', timestamp: T0 + 2, latitude: 1 },
        { deviceId: 'a', timestamp: T0 + 3 },
        { deviceId: 'b', timestamp: T0 },
        { deviceId: 'c', timestamp: T0 + 9 },
      ])
      const query = { accountId, deviceIds: ['a', 'b', 'c', 'none'], before: T0 + 3 }
      const found = await shared.store.findLastPositions(query)
      const byId = new Map(found.map((record) => [record.deviceId, record]))
      expect([...byId.keys()].sort()).toEqual(['a', 'b'])
      expect(byId.get('a')).toMatchObject({ timestamp: T0 + 2, latitude: 1 })
      expect(byId.get('b')).toMatchObject({ accountId, timestamp: T0 })
      const others = { ...query, accountId: newAccountId() }
      expect(await shared.store.findLastPositions(others)).toEqual([])
    })

    promise(
      'a stretch with too many records is read in parts that follow one another',
      async () => {
        const many = newAccountId()
        const seconds = Array.from({ length: 105 }, (_, n) => n)
        await report(
          seconds.map((n) => ({ accountId: many, timestamp: T0 + n * 1_000, latitude: n / 5 })),
        )
        const end = T0 + seconds.length * 1_000
        const seen: number[] = []
        let calls = 0
        for (let from = T0; from < end; calls += 1) {
          const { tracks, until } = await shared.store.readNear({
            accountId: many,
            deviceIds: ['tracker-1'],
            following: ['tracker-1'],
            boxes: [{ west: -180, south: -90, east: 180, north: 90 }],
            from,
            to: end,
            limit: 100,
          })
          const track = tracks.get('tracker-1') ?? []
          expect(track.length).toBeLessThanOrEqual(100)
          seen.push(...track.map(({ timestamp }) => timestamp))
          expect(until).toBeGreaterThan(from)
          from = until
        }
        expect(calls).toBeGreaterThan(1)
        expect(seen).toEqual(seconds.map((n) => T0 + n * 1_000))
      },
    )

    promise('visits are those of a model that judges every record', async () => {
      const sent = fc.record({
        device: fc.nat({ max: 3 }),
        minute: fc.nat({ max: 600 }),
        north: fc.integer({ min: -400, max: 400 }),
        accuracy: fc.constantFrom(0, 0, 30, 150),
      })
      const property = fc.asyncProperty(
        fc.array(sent, { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 10, max: 300 }),
        fc.nat({ max: 300 }),
        fc.nat({ max: 400 }),
        async (history, metres, begin, length) => {
          // No distance between a record and the edge is a whole number of metres.
          const radius = metres + 0.25
          const range = { from: T0 + begin * 60_000, to: T0 + (begin + length) * 60_000 }
          const reader = newAccountId()
          await report(
            history.map(({ device, minute, north, accuracy }) => ({
              accountId: reader,
              deviceId: `van-${device}`,
              timestamp: T0 + minute * 60_000,
              latitude: north * METRE,
              longitude: 180,
              ...(accuracy > 0 && { accuracy }),
            })),
          )
          const visits = await readVisits(
            {
              accountId: reader,
              deviceIds: ['van-0', 'van-1', 'van-2'],
              areas: areasOf({ type: 'circle', latitude: 0, longitude: -180, radius }),
              ...range,
            },
            { store: shared.store, isWanted: () => true },
          )
          const stays = visits.map(
            ({ deviceId, from, to, isBegun, isOpen, lastInsideAt }): Stay => {
              return [deviceId, from, to, `${isBegun} ${isOpen}`, lastInsideAt]
            },
          )
          expect(stays).toEqual(
            [0, 1, 2].flatMap((device) => staysOf(device, history, radius, range)),
          )
        },
      )
      await fc.assert(property, { numRuns: runs(100) })
    })

    async function report(
      changes: readonly Parameters<typeof positionReported>[0][],
    ): Promise<void> {
      const entries = changes.map((change) =>
        log.append(positionReported({ accountId, ...change })),
      )
      await shared.store.project(batchOf(...(entries as [PositionEntry, ...PositionEntry[]])))
    }
  })
}

function staysOf(
  device: number,
  history: readonly Sent[],
  radius: number,
  { from, to }: { readonly from: number; readonly to: number },
): Stay[] {
  const at = ({ minute }: Sent) => T0 + minute * 60_000
  const own = history.filter((one) => one.device === device).sort((a, b) => a.minute - b.minute)
  const depth = ({ north }: Sent) => radius - Math.abs(north)
  const enters = (one: Sent) =>
    depth(one) >= 0 && (one.accuracy <= Math.min(100, 2 * radius) || depth(one) >= one.accuracy)
  const leaves = (one: Sent) => depth(one) < 0 && -depth(one) >= Math.max(20, one.accuracy)
  const before = own.findLast((one) => at(one) < from)
  const stays: Stay[] = []
  let since = before !== undefined && enters(before) ? from : undefined
  let [isBegun, inside] = [since !== undefined, before === undefined ? 0 : at(before)]
  for (const one of own.filter((record) => at(record) >= from && at(record) < to)) {
    if (since === undefined) {
      if (!enters(one)) continue
      ;[since, isBegun, inside] = [at(one), false, at(one)]
    } else if (leaves(one)) {
      stays.push([`van-${device}`, since, at(one), `${isBegun} false`, inside])
      since = undefined
    } else inside = at(one)
  }
  if (since !== undefined) stays.push([`van-${device}`, since, to, `${isBegun} true`, inside])
  return stays
}
