import { expect } from '@jest/globals'
import { digestsOf } from '../../commands/rebuild/digest.ts'
import type { Generation, Rebuild } from '../../store/generations.ts'
import type { Store } from '../../store/store.ts'
import { eventually } from '../eventually.ts'
import { positionReported, T0 } from '../samples.ts'
import type { StoreSuite } from './store-suite.ts'
import {
  allDevices,
  batchOf,
  deviceErased,
  LogOfOneSuite,
  ODD_DEVICE_IDS,
  type PositionEntry,
} from './store-samples.ts'

const gone = { name: 'DependencyError', retriable: true }

export function generationsContract({ alone }: StoreSuite): void {
  alone('a generation being built is invisible until the switch to it', async ({ store, log }) => {
    const [first, second] = [log.append(positionReported()), log.append(positionReported())]
    await store.project(batchOf(first))
    expect(await store.currentGeneration()).toBe(1)

    const rebuild = await begin(store)
    expect(rebuild).toMatchObject({ from: 1, to: 2 })
    const built = await store.openGeneration(2)
    expect(await contents(built)).toEqual({ statuses: [], records: [] })
    await built.project(batchOf(first, second))
    expect(await reportCounts(store)).toEqual([1])

    await rebuild.switchOver()
    await eventually(async () => (await store.currentGeneration()) === 2)
    await eventually(async () => (await reportCounts(store))[0] === 2)
    await rebuild.end()
    await built.close()
    expect(await reportCounts(store)).toEqual([2])
    await expect(store.openGeneration(1)).rejects.toMatchObject(gone)
  })

  alone(
    'a generation knows the last event applied of each partition, even after a restart',
    async ({ store, log, reopen }) => {
      const [first, second] = [log.append(positionReported()), log.append(positionReported())]
      const elsewhere = log.append(positionReported({ deviceId: 'other' }), 7)
      const lastApplied = async (of: Store) => {
        const generation = await of.openGeneration(1)
        const events = await generation.lastApplied()
        await generation.close()
        return events
      }
      expect(await lastApplied(store)).toEqual({})
      await store.project(batchOf(first, second))
      await store.project(batchOf(elsewhere))
      // Repeated batches, and batches without events, move nothing.
      await store.project(batchOf(first))
      const { offset: lastOffset } = log.append(positionReported()).origin
      await store.project({ ...batchOf(second), lastOffset, entries: [] })
      const applied = {
        0: { offset: second.origin.offset, id: second.event.recordId },
        7: { offset: elsewhere.origin.offset, id: elsewhere.event.recordId },
      }
      expect(await lastApplied(store)).toEqual(applied)
      expect(await lastApplied(await reopen())).toEqual(applied)
      const erasure = log.erase(deviceErased())
      const reopened = await reopen()
      await reopened.project(batchOf(erasure))
      const id = erasure.kind === 'erasure' ? erasure.event.eventId : ''
      expect((await lastApplied(reopened))[0]).toEqual({ offset: erasure.origin.offset, id })
    },
  )

  alone(
    'a generation knows the version of the fold that made it, even after a restart, until another version continues it',
    async ({ store, log, reopen }) => {
      const versionOf = async (of: Store, number = 1) => {
        const generation = await of.openGeneration(number)
        const version = await generation.foldVersion()
        await generation.close()
        return version
      }
      const project = (of: Store, foldVersion: number, partition = 0) =>
        of.project({ ...batchOf(log.append(positionReported(), partition)), foldVersion })
      expect(await versionOf(store)).toBeUndefined()
      await project(store, 3)
      await project(store, 3, 7)
      await project(store, 3)
      expect(await versionOf(store)).toBe(3)
      const reopened = await reopen()
      expect(await versionOf(reopened)).toBe(3)
      // Another partition alone suffices: a device may have reports in both.
      await project(reopened, 4, 8)
      expect(await versionOf(reopened)).toBe('mixed')
      await project(reopened, 4)
      await project(reopened, 4, 7)
      await project(reopened, 4)
      expect(await versionOf(reopened)).toBe('mixed')

      const rebuild = await begin(reopened)
      const built = await reopened.openGeneration(rebuild.to)
      await built.project({ ...batchOf(log.append(positionReported())), foldVersion: 4 })
      await built.close()
      expect(await versionOf(reopened, rebuild.to)).toBe(4)
      await rebuild.end()
    },
  )

  alone('a rebuild that ends without switching changes nothing', async ({ store }) => {
    const entry = new LogOfOneSuite().append(positionReported())
    await store.project(batchOf(entry))
    const rebuild = await begin(store)
    const built = await store.openGeneration(rebuild.to)
    await built.project(batchOf(entry))
    await built.close()
    await rebuild.end()
    expect(await store.currentGeneration()).toBe(1)
    expect(await reportCounts(store)).toEqual([1])

    const next = await begin(store)
    expect(next).toMatchObject({ from: 1, to: 3 })
    const empty = await store.openGeneration(3)
    expect(await contents(empty)).toEqual({ statuses: [], records: [] })
    await empty.close()
    await expect(store.openGeneration(2)).rejects.toMatchObject(gone)
    await next.end()
  })

  alone('a second rebuild is rejected while one is running', async ({ store }) => {
    const rebuild = await begin(store)
    expect(await store.beginRebuild()).toBeUndefined()
    await rebuild.switchOver()
    expect(await store.beginRebuild()).toBeUndefined()
    await rebuild.end()
    const next = await begin(store)
    expect(next).toMatchObject({ from: 2, to: 3 })
    await next.end()
  })

  alone(
    'a projector that has not noticed the end of its generation restores nothing',
    async ({ store, log }) => {
      const first = log.append(positionReported())
      const slow = await store.openGeneration(1)
      await slow.project(batchOf(first))
      const rebuild = await begin(store)
      const built = await store.openGeneration(rebuild.to)
      await built.project(batchOf(first))
      await rebuild.switchOver()
      await rebuild.end()
      await built.close()

      const second = log.append(positionReported({ deviceId: 'tracker-2' }))
      await slow.project(batchOf(second)).catch(() => undefined)
      await slow.close()
      await expect(store.openGeneration(1)).rejects.toMatchObject(gone)
      await eventually(async () => (await store.currentGeneration()) === 2)
      await eventually(async () => (await reportCounts(store)).length === 1)
    },
  )

  alone(
    'the whole content of a generation is read in pages, each item once',
    async ({ store, log }) => {
      const entries = ['acc-1', 'acc-2', 'ACC'].flatMap((accountId) =>
        ODD_DEVICE_IDS.flatMap((deviceId, n) =>
          Array.from({ length: 1 + (n % 3) }, () =>
            log.append(positionReported({ accountId, deviceId })),
          ),
        ),
      )
      const many = Array.from({ length: 1_100 }, () =>
        log.append(positionReported({ accountId: 'acc-2', deviceId: 'truck' })),
      )
      await projectAll(store, [...entries, ...many])
      const generation = await store.openGeneration(1)
      expect((await generation.accounts()).sort()).toEqual(['ACC', 'acc-1', 'acc-2'])
      const { statuses, records } = await contents(generation)
      expect(new Set(records)).toEqual(
        new Set([...entries, ...many].map(({ event }) => event.recordId)),
      )
      expect(records).toHaveLength(entries.length + 1_100)
      expect(statuses).toHaveLength(3 * ODD_DEVICE_IDS.length)
      expect(new Set(statuses).size).toBe(statuses.length)
      await generation.close()
    },
  )

  alone('a generation knows the origins of its records in the log', async ({ store, log }) => {
    const at = (receivedAt: number, partition: number) =>
      log.append(positionReported({ receivedAt }), partition)
    await store.project(batchOf(at(T0, 0), at(T0 + 1, 0), at(T0 + 2, 0)))
    await store.project(batchOf(at(T0, 3), at(T0 + 1, 3)))
    const generation = await store.openGeneration(1)
    expect(await generation.origins({ receivedSince: -Infinity })).toEqual(
      new Map([
        [0, { least: 0, greatest: 2 }],
        [3, { least: 0, greatest: 1 }],
      ]),
    )
    expect(await generation.origins({ receivedSince: T0 + 2 })).toEqual(
      new Map([[0, { least: 2, greatest: 2 }]]),
    )
    await generation.close()
  })

  for (const size of [1, 2, 7]) {
    alone(
      `the digest of a generation is the same in every store, even delivered in batches of ${size}`,
      async ({ store }) => {
        await projectAll(store, FIXED, size)
        const generation = await store.openGeneration(1)
        const cover = { upTo: { 0: 6 }, receivedSince: -Infinity, partial: false }
        const { signal } = new AbortController()
        expect((await digestsOf({ generation }, cover, signal)).generation).toEqual({
          records: {
            count: 5,
            hash: 'f8e9befe29e97a3202d8e7a84b9b07da8a748e0861392389459e1f4c1853d3ce',
          },
          devices: {
            count: 3,
            hash: 'e0e9d218c5019d0184eca3148dbfda5cf93a1243ead01fe3eeecb72be6060c18',
          },
        })
        await generation.close()
      },
    )
  }
}

/** The same in every run; one of them a repeat, and two beyond the covered range. */
const FIXED: readonly PositionEntry[] = [
  ['B', 'buoy', 10],
  ['A', 'boje \u00fc', 11],
  ['B', 'buoy', 12],
  ['C', 'buoy', 10],
  ['A', 'boje \u00fc', 30],
  ['D', '\u{1f6a2}', 9],
  ['E', 'buoy', 12],
  ['F', 'buoy', 40],
  ['G', 'another', 41],
].map(([id, deviceId, second], offset) => ({
  kind: 'position',
  origin: { partition: 0, offset },
  event: {
    recordId: `01KDVN9C00${String(id).padStart(16, '0')}`,
    accountId: 'acc-1',
    keyId: 'key-1',
    deviceId: String(deviceId),
    latitude: 0.1 + 0.2,
    longitude: -180,
    timestamp: T0 + Number(second) * 1_000,
    timestampSource: 'device',
    receivedAt: T0 + Number(second) * 1_000 + 1,
    ...(id === 'B' && { speed: 1e-7, battery: 0, attributes: { alarm: 'ü', 'x.y': 1e-7 } }),
    ...(id === 'C' && { imported: true }),
  },
}))

async function begin(store: Store): Promise<Rebuild> {
  const rebuild = await store.beginRebuild()
  if (rebuild === undefined) throw new Error('another rebuild is in progress')
  return rebuild
}

async function projectAll(
  store: Store,
  entries: readonly PositionEntry[],
  size = 500,
): Promise<void> {
  for (let start = 0; start < entries.length; start += size) {
    const [head, ...tail] = entries.slice(start, start + size)
    if (head !== undefined) await store.project(batchOf(head, ...tail))
  }
}

async function reportCounts(store: Store): Promise<number[]> {
  return (await allDevices(store, 'acc-1')).map(({ status }) => status.reportCount)
}

/** Read in small pages: names of statuses, ids of records. */
async function contents(generation: Generation) {
  const statuses: string[] = []
  const records: string[] = []
  for (const accountId of await generation.accounts()) {
    let from: { after?: string } = {}
    for (;;) {
      const page = await generation.pageStatuses({ accountId, limit: 2, ...from })
      statuses.push(...page.map(({ deviceId }) => `${accountId}/${deviceId}`))
      const last = page.at(1)?.deviceId
      const upTo = last === undefined ? {} : { upTo: last }
      for await (const chunk of generation.scanRecords({ accountId, ...from, ...upTo })) {
        records.push(...chunk.map(({ recordId }) => recordId))
      }
      if (last === undefined) break
      from = { after: last }
    }
  }
  return { statuses, records }
}
