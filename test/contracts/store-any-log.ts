import { expect } from '@jest/globals'
import fc from 'fast-check'
import { deviceStatus } from '../../projector/device-status.ts'
import { isWithdrawn } from '../../schemas/events/device-erased.ts'
import { telemetryOf } from '../../schemas/devices/device-readings.ts'
import type { DeviceStatus } from '../../schemas/devices/read-models.ts'
import type { PositionReported } from '../../schemas/events/position-reported.ts'
import type { ErasureEntry, ProjectionEntry } from '../../store/read-models.ts'
import { deviceSeen, positionReported, T0 } from '../samples.ts'
import {
  allDevices,
  batchOf,
  canonical,
  deviceErased,
  everythingOf,
  type LogOfOneSuite,
  newAccountId,
  type PositionEntry,
} from './store-samples.ts'
import type { StoreSuite } from './store-suite.ts'

/** What any log leaves in a store: reports, repeats, heartbeats and erasures, on time or from a spool. */
export function anyLogContract({ promise, shared, log, runs }: StoreSuite): void {
  promise('every number keeps its exact bits', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(numbers, { minLength: 1, maxLength: 20 }), async (reported) => {
        const accountId = newAccountId()
        const entries = reported.map((fields) =>
          log.append(positionReported({ accountId, ...fields })),
        )
        await shared.store.project(batchOf(...(entries as [PositionEntry])))
        const left = contentOf(entries)
        expect(await everythingOf(shared.store, accountId)).toEqual(inTime(left))
      }),
      { numRuns: runs(30) },
    )
  })

  promise(
    'any log, with repeats, heartbeats, erasures and spooled entries, gives the same result as one fold over it, however it is delivered',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), plan, deliver),
        { numRuns: runs(150) },
      )
    },
  )

  /** Delivers the log by the plan, then the rest, and compares with the model. */
  async function deliver(steps: readonly Step[], cuts: readonly Cut[]): Promise<void> {
    const accountId = newAccountId()
    const partitions = logOf(accountId, steps, log)
    const delivered = partitions.map(() => 0)
    const rest: Cut[] = [0, 1].map((partition) => ({ partition, back: 3, forward: Infinity }))
    for (const { partition, back, forward, restart = false } of [...cuts, ...rest]) {
      if (restart) await shared.reopen()
      const until = delivered[partition] ?? 0
      const [head, ...tail] =
        partitions[partition]?.slice(Math.max(0, until - back), until + forward) ?? []
      if (head === undefined) continue
      await shared.store.project(batchOf(head, ...tail))
      delivered[partition] = until + forward
    }

    const entries = partitions.flat()
    const left = contentOf(entries)
    expect(await everythingOf(shared.store, accountId)).toEqual(inTime(left))
    const devices = await allDevices(shared.store, accountId)
    expect(devices.map(({ status }) => telemetryOf(status))).toEqual(left.statuses.map(telemetryOf))
    const kept = new Set(left.records.map(({ recordId }) => recordId))
    for (const { kind, event } of entries) {
      if (kind !== 'position') continue
      const found = await shared.store.findPosition(event)
      expect(found !== undefined).toBe(kept.has(event.recordId))
    }
  }
}

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

type Cut = {
  readonly partition: number
  /** How many delivered entries are redelivered. */
  readonly back: number
  readonly forward: number
  readonly restart?: boolean
}

/** Few different times, so that many are equal, in any order. */
const time = fc.nat(4).map((n) => T0 + n)

const step = fc.record({
  device: fc.nat(3),
  kind: fc.constantFrom(
    ...([
      'position',
      'position',
      'position',
      'repeat',
      'repeat',
      'seen',
      'erasure',
      'copy',
    ] as const),
  ),
  /** Which earlier report of the device a repeat repeats. */
  of: fc.nat(5),
  erasedAt: time,
  spooled: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
  fields: fc.record(
    {
      timestamp: time,
      receivedAt: time,
      keyId: fc.constantFrom('key-1', 'key-2', 'key-3'),
      battery: fc.nat(9).map((tenths) => tenths / 10),
      attributes: fc.constant({ alarm: 'sos', 'x.y': 1.5 }),
      imported: fc.constant(true as const),
    },
    { requiredKeys: ['timestamp', 'receivedAt', 'keyId', 'battery'] },
  ),
})

const plan: fc.Arbitrary<Cut[]> = fc.array(
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

/** Each device is in one partition, as in the log; store-erasures has other kinds of repeats. */
function logOf(accountId: string, steps: readonly Step[], log: LogOfOneSuite): ProjectionEntry[][] {
  const partitions: ProjectionEntry[][] = [[], []]
  for (const { device, kind, of, erasedAt, spooled, fields } of steps) {
    const partition = device % 2
    const deviceId = `tracker-${device}`
    const own = (partitions[partition] ?? []).filter(({ event }) => event.deviceId === deviceId)
    const reports = own.filter((entry): entry is PositionEntry => entry.kind === 'position')
    const erasures = own.filter((entry): entry is ErasureEntry => entry.kind === 'erasure')
    const repeated = kind === 'repeat' ? reports[of % reports.length]?.event : undefined
    const copied = kind === 'copy' ? erasures[of % erasures.length]?.event : undefined
    const { receivedAt, keyId, battery, attributes } = fields
    const sent = { accountId, deviceId, receivedAt, keyId, battery }
    const entry =
      kind === 'erasure' || kind === 'copy'
        ? log.erase(copied ?? deviceErased({ accountId, deviceId, erasedAt }), partition)
        : kind === 'seen'
          ? log.hear(deviceSeen({ ...sent, ...(attributes && { attributes }) }), partition)
          : log.append(
              repeated === undefined
                ? positionReported({ accountId, deviceId, ...fields })
                : { ...repeated, ...fields, timestamp: repeated.timestamp },
              partition,
            )
    partitions[partition]?.push(spooled && entry.kind !== 'erasure' ? { ...entry, spooled } : entry)
  }
  return partitions
}

/** The state of each device after the log, in memory. */
function contentOf(log: readonly ProjectionEntry[]) {
  type Content = { status?: DeviceStatus; records: Map<string, PositionEntry>; erased: number[] }
  const devices = new Map<string, Content>()
  const erasures = new Set<string>()
  for (const entry of log) {
    const { deviceId } = entry.event
    const device: Content = devices.get(deviceId) ?? { records: new Map(), erased: [] }
    devices.set(deviceId, device)
    const { status, records } = device
    if (entry.kind === 'erasure') {
      if (erasures.has(entry.event.eventId)) continue
      erasures.add(entry.event.eventId)
      devices.set(deviceId, {
        records: new Map(),
        erased: [...device.erased, entry.event.erasedAt],
      })
    } else if (device.erased.some((erasedAt) => isWithdrawn(entry, erasedAt))) {
      continue
    } else if (entry.kind === 'seen') {
      const heard = deviceStatus(status, entry)
      if (heard !== undefined) device.status = heard
    } else if (records.has(entry.event.recordId)) {
      device.status = deviceStatus(status, { ...entry, kind: 'repeat' })
    } else {
      records.set(entry.event.recordId, entry)
      device.status = deviceStatus(status, entry)
    }
  }
  const sorted = [...devices].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, device]) => device)
  return {
    statuses: sorted.flatMap(({ status }) => (status === undefined ? [] : [status])),
    records: sorted.flatMap(({ records }) =>
      [...records.values()]
        .map(({ event, origin }) => ({ ...event, origin }))
        .sort((a, b) => a.timestamp - b.timestamp || a.origin.offset - b.origin.offset),
    ),
  }
}

function inTime({ statuses, records }: ReturnType<typeof contentOf>) {
  return { statuses: statuses.map(canonical), records }
}
