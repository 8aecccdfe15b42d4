import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { countChanges } from '../../projector/changes.ts'
import { deviceStatus } from '../../projector/device-status.ts'
import type { PositionReported } from '../../schemas/position-reported.ts'
import type { DeviceStatus } from '../../schemas/read-models.ts'
import { positionReported, T0 } from '../samples.ts'
import type { OpenStore } from './store-contract.ts'
import {
  batchOf,
  canonical,
  deviceErased,
  everythingOf,
  LogOfOneSuite,
  newAccountId,
  sharedStore,
  type PositionEntry,
} from './store-samples.ts'

export function projectionContract(open: OpenStore): void {
  describe('projecting the log', () => {
    const shared = sharedStore(open)
    const log = new LogOfOneSuite()

    test('an event becomes a record with its place in the log, and its device a status', async () => {
      const accountId = newAccountId()
      const first = log.append(positionReported({ accountId, accuracy: 4.5, battery: 0 }))
      const second = log.append(positionReported({ accountId }))
      expect(countChanges(await shared.store.project(batchOf(first, second)))).toMatchObject({
        stored: 2,
        repeated: 0,
      })

      const { recordId, deviceId } = first.event
      expect(await shared.store.findPosition({ accountId, recordId })).toEqual({
        ...first.event,
        origin: first.origin,
      })
      const device = await shared.store.findDevice({ accountId, deviceId })
      expect(device?.status).toEqual(deviceStatus(deviceStatus(undefined, first), second))
    })

    test('a measurement that was not reported is absent, not null', async () => {
      const accountId = newAccountId()
      const entry = log.append(positionReported({ accountId, speed: 3 }))
      await shared.store.project(batchOf(entry))
      const { recordId } = entry.event
      const found = await shared.store.findPosition({ accountId, recordId })
      expect(Object.keys(found ?? {}).sort()).toEqual(
        [...Object.keys(entry.event), 'origin'].sort(),
      )
    })

    test('a batch that is delivered twice changes nothing the second time', async () => {
      const accountId = newAccountId()
      const batch = batchOf(
        log.append(positionReported({ accountId })),
        log.append(positionReported({ accountId, deviceId: 'tracker-2' })),
        log.append(positionReported({ accountId })),
      )
      await shared.store.project(batch)
      const before = await everything(accountId)
      await shared.store.project(batch)
      expect(await everything(accountId)).toEqual(before)
      await shared.reopen()
      await shared.store.project(batch)
      expect(await everything(accountId)).toEqual(before)
    })

    test('a report repeated later in the log is stored and counted once, as it came first', async () => {
      const accountId = newAccountId()
      const first = log.append(positionReported({ accountId }))
      const { receivedAt } = first.event
      const inSameBatch = log.append({ ...first.event, receivedAt: receivedAt + 5_000 })
      const later = log.append({ ...first.event, receivedAt: receivedAt + 60_000 })
      const batch = batchOf(first, inSameBatch)
      expect(countChanges(await shared.store.project(batch))).toMatchObject({
        stored: 1,
        repeated: 1,
      })
      expect(countChanges(await shared.store.project(batchOf(later)))).toMatchObject({
        stored: 0,
        repeated: 1,
      })

      const { records, statuses } = await everything(accountId)
      expect(records).toEqual([{ ...first.event, origin: first.origin }])
      expect(statuses).toMatchObject([{ reportCount: 1, lastSeenAt: receivedAt }])
    })

    test('another device under a recordId that is taken is a repeat, and blocks nothing', async () => {
      const accountId = newAccountId()
      const first = log.append(positionReported({ accountId, deviceId: 'one' }))
      const other = log.append({ ...first.event, deviceId: 'two' })
      const good = log.append(positionReported({ accountId, deviceId: 'two' }))
      const again = log.append({ ...first.event, deviceId: 'three' })
      await shared.store.project(batchOf(first))
      const repeated = { stored: 1, repeated: 2 }
      expect(countChanges(await shared.store.project(batchOf(other, good, again)))).toMatchObject(
        repeated,
      )
      const { records, statuses } = await everything(accountId)
      expect(records.map(({ recordId }) => recordId)).toEqual([
        first.event.recordId,
        good.event.recordId,
      ])
      expect(statuses.map(({ deviceId, reportCount }) => [deviceId, reportCount])).toEqual([
        ['one', 1],
        ['two', 1],
      ])

      // Erasing the one that repeats takes nothing of the other, and frees no recordId.
      const erasure = log.erase(deviceErased({ accountId, deviceId: 'two' }))
      const afresh = log.append({ ...first.event, deviceId: 'two' })
      await shared.store.project(batchOf(erasure, afresh))
      const { recordId } = first.event
      const found = await shared.store.findPosition({ accountId, recordId })
      expect(found).toEqual({ ...first.event, origin: first.origin })
    })

    test('one recordId in two accounts is two records', async () => {
      const [one, other] = [newAccountId(), newAccountId()]
      const mine = log.append(positionReported({ accountId: one }))
      const theirs = log.append({ ...mine.event, accountId: other, latitude: -1 })
      await shared.store.project(batchOf(mine, theirs))
      const { recordId } = mine.event
      const found = await shared.store.findPosition({ accountId: one, recordId })
      expect(found?.latitude).toBe(mine.event.latitude)
      const foundThere = await shared.store.findPosition({ accountId: other, recordId })
      expect(foundThere?.latitude).toBe(-1)
    })

    test('a batch that failed on the way is whole once it is delivered again', async () => {
      const accountId = newAccountId()
      const batch = batchOf(
        log.append(positionReported({ accountId })),
        log.append(positionReported({ accountId })),
      )
      const fails = { ...batch, fold: brokenAfter(1) }
      await expect(shared.store.project(fails)).rejects.toThrow('the fold broke')
      await shared.reopen()
      await shared.store.project(batch)
      const { records, statuses } = await everything(accountId)
      expect(records).toHaveLength(2)
      expect(statuses).toMatchObject([{ reportCount: 2 }])
    })

    test('every number comes back with the same bits', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(numbers, { minLength: 1, maxLength: 20 }), async (reported) => {
          const accountId = newAccountId()
          const entries = reported.map((fields) =>
            log.append(positionReported({ accountId, ...fields })),
          )
          await shared.store.project(batchOf(...(entries as [PositionEntry, ...PositionEntry[]])))
          const { records, statuses } = await everything(accountId)
          expect(records.map(({ recordId: id }) => id)).toHaveLength(entries.length)
          for (const { event } of entries) {
            const found = records.find(({ recordId }) => recordId === event.recordId)
            expect(found).toMatchObject(event)
          }
          const last = fold(entries).get('tracker-1')?.lastPosition
          expect(statuses[0]?.lastPosition).toEqual(last)
        }),
        { numRuns: 30 },
      )
    })

    test('any order of delivery, with repeats and restarts, gives the same as folding it all at once', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(report, { minLength: 1, maxLength: 40 }), plan, deliver),
        { numRuns: 30 },
      )
    })

    test('a store that knows how far it has come says so, after a restart too', async () => {
      const partition = 7
      const before = await shared.store.checkpoint()
      if (before === undefined) return
      expect(before[partition]).toBeUndefined()
      const entry = log.append(positionReported({ accountId: newAccountId() }), partition)
      await shared.store.project({ ...batchOf(entry), lastOffset: 3 })
      expect((await shared.store.checkpoint())?.[partition]).toBe(3)
      const unreadable = { partition, lastOffset: 9, entries: [], fold: deviceStatus }
      await shared.store.project(unreadable)
      await shared.store.project({ ...unreadable, lastOffset: 5 })
      await shared.reopen()
      expect((await shared.store.checkpoint())?.[partition]).toBe(9)
    })

    const everything = (accountId: string) => everythingOf(shared.store, accountId)

    /** Hands the reports over by the plan, then what is left, and compares with the model. */
    async function deliver(reports: readonly Report[], steps: readonly Step[]): Promise<void> {
      const accountId = newAccountId()
      const partitions = placed(accountId, reports, log)
      const delivered = partitions.map(() => 0)
      const rest: Step[] = [0, 1].map((partition) => ({ partition, back: 2, forward: Infinity }))
      for (const { partition, back, forward, restart = false } of [...steps, ...rest]) {
        if (restart) await shared.reopen()
        const until = delivered[partition] ?? 0
        const [head, ...tail] =
          partitions[partition]?.slice(Math.max(0, until - back), until + forward) ?? []
        if (head === undefined) continue
        await shared.store.project(batchOf(head, ...tail))
        delivered[partition] = until + forward
      }

      const { statuses, records } = await everything(accountId)
      const model = [...fold(partitions.flat()).values()].map(canonical)
      expect(statuses).toEqual(model.sort((a, b) => (a.deviceId < b.deviceId ? -1 : 1)))
      const firsts = firstOfEach(partitions.flat())
      expect(records).toHaveLength(firsts.length)
      expect(new Set(records)).toEqual(
        new Set(firsts.map(({ event, origin }) => ({ ...event, origin }))),
      )
    }
  })
}

type Report = {
  readonly device: number
  /** An earlier report of the same device that this one repeats. */
  readonly repeats: number | undefined
  readonly fields: Partial<PositionReported>
}

type Step = {
  readonly partition: number
  /** How many entries that were delivered before come again. */
  readonly back: number
  readonly forward: number
  readonly restart?: boolean
}

/** So few times that many are equal, in any order against each other. */
const report: fc.Arbitrary<Report> = fc.record({
  device: fc.nat(3),
  repeats: fc.option(fc.nat(5), { nil: undefined, freq: 3 }),
  fields: fc.record({
    timestamp: fc.nat(4).map((n) => T0 + n),
    receivedAt: fc.nat(4).map((n) => T0 + n),
  }),
})

const plan: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    partition: fc.nat(1),
    back: fc.nat(4),
    forward: fc.nat(6),
    restart: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  }),
  { maxLength: 15 },
)

const numbers: fc.Arbitrary<Partial<PositionReported>> = fc.record(
  {
    latitude: double(-90, 90),
    longitude: double(-180, 180),
    timestamp: fc.integer({ min: Date.UTC(2000), max: Date.UTC(2100) }),
    receivedAt: fc.integer({ min: Date.UTC(2000), max: Date.UTC(2100) }),
    accuracy: double(0, Number.MAX_VALUE),
    altitude: double(-12_000, 100_000),
    speed: double(0, Number.MAX_VALUE),
    heading: double(0, 360),
    battery: double(0, 1),
  },
  { requiredKeys: ['latitude', 'longitude', 'timestamp', 'receivedAt'] },
)

/** No negative zero: reports have none. */
function double(min: number, max: number): fc.Arbitrary<number> {
  return fc.double({ min, max, noNaN: true }).map((value) => (value === 0 ? 0 : value))
}

/** Each device's reports stand in one partition, in order; a repeat has the recordId of another. */
function placed(
  accountId: string,
  reports: readonly Report[],
  log: LogOfOneSuite,
): PositionEntry[][] {
  const partitions: PositionEntry[][] = [[], []]
  for (const { device, repeats, fields } of reports) {
    const partition = device % 2
    const deviceId = `tracker-${device}`
    const earlier = (partitions[partition] ?? []).filter(({ event }) => event.deviceId === deviceId)
    const repeated = repeats === undefined ? undefined : earlier[repeats % earlier.length]
    const event =
      repeated === undefined
        ? positionReported({ accountId, deviceId, ...fields })
        : { ...repeated.event, receivedAt: fields.receivedAt ?? T0 }
    partitions[partition]?.push(log.append(event, partition))
  }
  return partitions
}

function firstOfEach(entries: readonly PositionEntry[]): PositionEntry[] {
  const seen = new Set<string>()
  return entries.filter(({ event }) => {
    const isNew = !seen.has(event.recordId)
    seen.add(event.recordId)
    return isNew
  })
}

function fold(entries: readonly PositionEntry[]): Map<string, DeviceStatus> {
  const statuses = new Map<string, DeviceStatus>()
  for (const item of firstOfEach(entries)) {
    const { deviceId } = item.event
    statuses.set(deviceId, deviceStatus(statuses.get(deviceId), item))
  }
  return statuses
}

function brokenAfter(calls: number): typeof deviceStatus {
  let made = 0
  return (previous, item) => {
    made += 1
    if (made > calls) throw new Error('the fold broke')
    return deviceStatus(previous, item)
  }
}
