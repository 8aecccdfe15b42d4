import { expect } from '@jest/globals'
import fc from 'fast-check'
import { deviceStatus } from '../../projector/device-status.ts'
import type { PositionReported } from '../../schemas/events/position-reported.ts'
import type { DeviceStatus } from '../../schemas/devices/read-models.ts'
import type { ReportEntry } from '../../store/read-models.ts'
import { deviceSeen, positionReported, T0 } from '../samples.ts'
import type { StoreSuite } from './store-suite.ts'
import {
  batchOf,
  canonical,
  everythingOf,
  type LogOfOneSuite,
  newAccountId,
  type PositionEntry,
} from './store-samples.ts'

export function anyProjectionContract({ promise, shared, log }: StoreSuite): void {
  const everything = (accountId: string) => everythingOf(shared.store, accountId)

  promise('every number comes back with the same bits', async () => {
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

  promise(
    'any order of delivery, with repeats and restarts, gives the same as folding it all at once',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(report, { minLength: 1, maxLength: 40 }), plan, deliver),
        { numRuns: 30 },
      )
    },
  )

  /** Delivers the reports by the plan, then the rest, and compares with the model. */
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
}

type Report = {
  readonly device: number
  /** An earlier report of the same device that this one repeats. */
  readonly repeats: number | undefined
  readonly isHeartbeat: boolean
  readonly fields: Pick<PositionReported, 'timestamp' | 'receivedAt' | 'keyId'> & {
    readonly battery: number
    readonly imported?: true
  }
}

type Step = {
  readonly partition: number
  /** How many entries that were delivered before come again. */
  readonly back: number
  readonly forward: number
  readonly restart?: boolean
}

/** Few times, so that many are equal, in any order. */
const report: fc.Arbitrary<Report> = fc.record({
  device: fc.nat(3),
  repeats: fc.option(fc.nat(5), { nil: undefined, freq: 3 }),
  isHeartbeat: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
  fields: fc.record(
    {
      timestamp: fc.nat(4).map((n) => T0 + n),
      receivedAt: fc.nat(4).map((n) => T0 + n),
      keyId: fc.constantFrom('key-1', 'key-2', 'key-3'),
      battery: fc.nat(9).map((tenths) => tenths / 10),
      imported: fc.constant(true as const),
    },
    { requiredKeys: ['timestamp', 'receivedAt', 'keyId', 'battery'] },
  ),
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
    attributes: fc.constant({ alarm: 'sos', 'x.y': 1.5 }),
    imported: fc.constant(true as const),
  },
  { requiredKeys: ['latitude', 'longitude', 'timestamp', 'receivedAt'] },
)

/** No negative zero: reports have none. */
function double(min: number, max: number): fc.Arbitrary<number> {
  return fc.double({ min, max, noNaN: true }).map((value) => (value === 0 ? 0 : value))
}

/**
 * Each device's reports are in one partition, in order; a repeat has the recordId of another
 * report.
 */
function placed(
  accountId: string,
  reports: readonly Report[],
  log: LogOfOneSuite,
): ReportEntry[][] {
  const partitions: ReportEntry[][] = [[], []]
  for (const { device, repeats, isHeartbeat, fields } of reports) {
    const partition = device % 2
    const deviceId = `tracker-${device}`
    if (isHeartbeat) {
      const { receivedAt, keyId, battery } = fields
      partitions[partition]?.push(
        log.hear(deviceSeen({ accountId, deviceId, receivedAt, keyId, battery }), partition),
      )
      continue
    }
    const earlier = (partitions[partition] ?? [])
      .filter(isPosition)
      .filter(({ event }) => event.deviceId === deviceId)
    const repeated = repeats === undefined ? undefined : earlier[repeats % earlier.length]
    const event =
      repeated === undefined
        ? positionReported({ accountId, deviceId, ...fields })
        : { ...repeated.event, ...fields, timestamp: repeated.event.timestamp }
    partitions[partition]?.push(log.append(event, partition))
  }
  return partitions
}

function isPosition(entry: ReportEntry): entry is PositionEntry {
  return entry.kind === 'position'
}

function firstOfEach(entries: readonly ReportEntry[]): PositionEntry[] {
  const seen = new Set<string>()
  return entries.filter(isPosition).filter(({ event }) => {
    const isNew = !seen.has(event.recordId)
    seen.add(event.recordId)
    return isNew
  })
}

function fold(entries: readonly ReportEntry[]): Map<string, DeviceStatus> {
  const statuses = new Map<string, DeviceStatus>()
  const counting = new Set<ReportEntry>(firstOfEach(entries))
  for (const item of entries) {
    const { deviceId } = item.event
    const isRepeat = item.kind === 'position' && !counting.has(item)
    const entry = isRepeat ? { ...item, kind: 'repeat' as const } : item
    const status = deviceStatus(statuses.get(deviceId), entry)
    if (status !== undefined) statuses.set(deviceId, status)
  }
  return statuses
}
