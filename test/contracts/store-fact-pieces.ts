import { expect } from '@jest/globals'
import type { DefinitionsState } from '../../schemas/definitions/definitions-state.ts'
import type { FactState } from '../../schemas/facts/fact-state.ts'
import type { DeviceFact } from '../../schemas/facts/facts.ts'
import { ulid } from '../../schemas/events/record-id.ts'
import type { JudgeDevice } from '../../store/facts.ts'
import type { Store } from '../../store/store.ts'
import { T0 } from '../samples.ts'
import type { StoreSuite } from './store-suite.ts'
import { newAccountId } from './store-samples.ts'

type Name = { readonly accountId: string; readonly deviceId: string }

/** Facts too large for one write, and paged lists. */
export function factPiecesContract({ promise }: StoreSuite): void {
  promise(
    'judging that stops early is stored and continued: no fact is lost or duplicated',
    async ({ store, reopen }) => {
      const devices = ['van', 'tug', 'bus'].map(newDevice)
      const published: DeviceFact[] = []
      const judged = await store.judgeFacts({
        devices: devices.map((device) => inPieces(device, 3)),
        publish: async (facts) => void published.push(...facts),
      })
      expect(judged.failed).toEqual([])
      expect(judged.facts).toHaveLength(9)
      // Only if this store publishes facts.
      expect([0, 9]).toContain(new Set(published.map(({ id }) => id)).size)
      const next = await reopen()
      for (const device of devices) {
        const facts = await next.pageFacts({ accountId: device.accountId, limit: 9 })
        expect(facts.map(({ sequence }) => sequence)).toEqual([3, 2, 1])
        expect(await stateOf(next, device)).toMatchObject({ sequence: 3 })
      }
    },
  )

  promise(
    'facts of one time are listed by their sequence, in pages too, whatever their ids',
    async ({ store }) => {
      const [van, tug] = [newDevice('van'), newDevice('tug')] as const
      const accountId = van.accountId
      const other = { accountId, deviceId: tug.deviceId }
      const ids = [9, 1, 5, 3, 7]
      const facts = [
        ...ids.map((n, index) => alarm(van, index + 1, T0, n)),
        ...ids.map((n, index) => alarm(other, index + 1, T0, n + 1)),
        alarm(van, 6, T0 + 5, 2),
      ]
      await store.judgeFacts({
        devices: [van, other].map((device) => ({
          ...device,
          judge: () => ({
            state: state(6),
            facts: facts.filter(({ deviceId }) => deviceId === device.deviceId),
          }),
        })),
      })
      const newestFirst = [...facts].sort(
        (a, b) => b.at - a.at || b.sequence - a.sequence || (a.id < b.id ? 1 : -1),
      )
      const filters = [{}, { type: 'alarm.reported' }, { deviceId: van.deviceId }] as const
      for (const filter of filters) {
        const paged: DeviceFact[] = []
        for (let page: readonly DeviceFact[] | undefined; page?.length !== 0;) {
          const after = paged.at(-1)
          page = await store.pageFacts({ accountId, ...filter, ...(after && { after }), limit: 2 })
          paged.push(...page)
        }
        expect(paged).toEqual(
          'deviceId' in filter
            ? newestFirst.filter(({ deviceId }) => deviceId === van.deviceId)
            : newestFirst,
        )
      }
    },
  )

  promise('facts are found by their ids, of one account', async ({ store }) => {
    const device = newDevice('van')
    const { accountId } = device
    const facts = [1, 2, 3].map((n) => alarm(device, n, T0 + n, n))
    await store.judgeFacts({
      devices: [{ ...device, judge: () => ({ state: state(3), facts }) }],
    })
    const ids = [facts[0]!.id, facts[2]!.id, 'unknown']
    const found = await store.findFacts({ accountId, ids })
    expect([...found].sort((a, b) => a.at - b.at)).toEqual([facts[0], facts[2]])
    expect(await store.findFacts({ accountId: newAccountId(), ids })).toEqual([])
  })

  promise(
    'the devices in a geofence are paged, and each page is full even if others have left meanwhile',
    async ({ store }) => {
      const accountId = newAccountId()
      const ids = Array.from({ length: 7 }, (_, n) => `van-${n}`)
      for (const [n, deviceId] of ids.entries()) {
        await store.judgeFacts({
          devices: [
            {
              accountId,
              deviceId,
              judge: () => ({
                state: { ...state(1), definitions: raised(n < 3 ? 1 : 2) },
                facts: [],
              }),
            },
          ],
        })
      }
      const page = async (after?: string) => {
        const query = { accountId, definitionId: 'slow', revision: 2, limit: 2 }
        const devices = await store.devicesWith({ ...query, ...(after !== undefined && { after }) })
        return devices.map(({ deviceId }) => deviceId)
      }
      expect(await page()).toEqual(['van-3', 'van-4'])
      expect(await page('van-4')).toEqual(['van-5', 'van-6'])
      expect(await page('van-6')).toEqual([])
    },
  )
}

function newDevice(deviceId: string): Name {
  return { accountId: newAccountId(), deviceId }
}

function state(sequence: number): FactState {
  return { sequence, applied: {}, due: null }
}

function raised(revision: number): DefinitionsState {
  return {
    geofences: { standings: {} },
    rules: { standings: { slow: { revision, raisedAt: T0 } } },
  }
}

/** One fact at a time. */
function inPieces(device: Name, count: number): JudgeDevice {
  return {
    ...device,
    judge(before) {
      const sequence = (before?.sequence ?? 0) + 1
      if (sequence > count) return undefined
      const facts = [alarm(device, sequence, T0 + sequence, sequence)]
      return { state: state(sequence), facts, isPartial: sequence < count }
    },
  }
}

function alarm(device: Name, sequence: number, at: number, n: number): DeviceFact {
  const random = Buffer.from((device.deviceId + device.accountId).slice(-10))
  random.writeUInt8(n, 0)
  const fact = { ...device, id: ulid(at, random), sequence, at, decidedAt: at, inside: [] }
  return { ...fact, type: 'alarm.reported', alarm: 'sos', late: false }
}

async function stateOf(store: Store, device: Name): Promise<FactState | undefined> {
  let found: FactState | undefined
  await store.judgeFacts({
    devices: [{ ...device, judge: (before) => void (found = before) }],
  })
  return found
}
