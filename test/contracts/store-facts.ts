import { expect } from '@jest/globals'
import { factId, type DeviceFact } from '../../schemas/facts/facts.ts'
import { deviceKey } from '../../schemas/events/position-reported.ts'
import type { FactState } from '../../schemas/facts/fact-state.ts'
import type { JudgeDevice } from '../../store/facts.ts'
import { WentBackError, type ErasureEntry } from '../../store/read-models.ts'
import type { Store } from '../../store/store.ts'
import { DECISIONS_ALIKE } from '../projector/facts/decisions-alike.ts'
import { positionReported, T0 } from '../samples.ts'
import { ownChanges } from './store-definitions.ts'
import type { StoreSuite } from './store-suite.ts'
import { batchOf, deviceErased, newAccountId } from './store-samples.ts'

type Name = { readonly accountId: string; readonly deviceId: string }

/** Facts, and the states that they are decided from. */
export function factsContract({ promise, alone, log }: StoreSuite): void {
  alone('judging starts once, at the offsets first given', async ({ store, reopen }) => {
    expect(await store.factsProgress()).toBeUndefined()
    await store.beginFacts({ 0: 4, 2: 7 })
    await store.beginFacts({ 0: 9, 1: 1 })
    expect(await store.factsProgress()).toEqual({ 0: 4, 2: 7 })
    expect(await (await reopen()).factsProgress()).toEqual({ 0: 4, 2: 7 })
  })

  alone('judging can start on an empty log', async ({ store }) => {
    await store.beginFacts({})
    expect(await store.factsProgress()).toEqual({})
  })

  promise('facts and states come back as they were stored', async ({ store, reopen }) => {
    const device = newDevice({ deviceId: '$van.1 "ž"' })
    const position = { ...positionReported(), attributes: { alarm: 'sos' } }
    const fact: DeviceFact = { ...online(device, 1), position }
    expect(await judge(store, device, [fact])).toEqual([fact])
    const next = await reopen()
    expect(await next.pageFacts({ accountId: device.accountId, limit: 9 })).toEqual([fact])
    expect(await stateOf(next, device)).toEqual(state(1))
  })

  alone('a redelivered batch changes nothing', async ({ store }) => {
    await store.beginFacts({})
    const device = newDevice()
    const read = { partition: 0, lastOffset: 5, lastEvent: { offset: 5, id: 'event-5' } }
    await store.judgeFacts({ read, devices: [deciding(device, [online(device, 1)])] })
    const again = { read, devices: [deciding(device, [online(device, 2)])] }
    expect((await store.judgeFacts(again)).facts).toEqual([])
    expect(await store.factsProgress()).toEqual({ 0: 5 })
    expect(await store.lastJudged()).toEqual({ 0: { offset: 5, id: 'event-5' } })
    expect(await store.pageFacts({ accountId: device.accountId, limit: 9 })).toHaveLength(1)
  })

  alone('a batch beyond the progress is rejected', async ({ store }) => {
    await store.beginFacts({ 0: 3 })
    const read = { partition: 0, after: 7, lastOffset: 9 }
    await expect(store.judgeFacts({ read, devices: [] })).rejects.toThrow(WentBackError)
    expect(await store.factsProgress()).toEqual({ 0: 3 })
  })

  promise('two processes that judge one device take turns', async ({ store }) => {
    const device = newDevice()
    const seen: (number | undefined)[] = []
    const counting: JudgeDevice = {
      ...device,
      judge(before) {
        seen.push(before?.sequence)
        const sequence = (before?.sequence ?? 0) + 1
        return { state: state(sequence), facts: [online(device, sequence)] }
      },
    }
    await Promise.all([1, 2, 3].map(() => store.judgeFacts({ devices: [counting] })))
    const facts = await store.pageFacts({ accountId: device.accountId, limit: 9 })
    expect(facts.map(({ sequence }) => sequence).sort()).toEqual([1, 2, 3])
    expect(await stateOf(store, device)).toEqual(state(3))
  })

  for (const { name, judge } of DECISIONS_ALIKE) {
    promise(
      `all decisions are stored, even identical ones: ${name}`,
      async ({ store, accountId }) => {
        const device = newDevice({ accountId })
        const { facts } = await store.judgeFacts({
          devices: [{ ...device, judge: (before) => judge(device, before) }],
        })
        const stored = await store.pageFacts({ accountId, limit: 99 })
        expect(stored.map(({ sequence }) => sequence).sort((a, b) => a - b)).toEqual(
          facts.map((_, n) => n + 1),
        )
      },
    )
  }

  promise('judging that stops early is stored and continued', async ({ store }) => {
    const device = newDevice()
    const judge: JudgeDevice['judge'] = (before) => {
      const sequence = (before?.sequence ?? 0) + 1
      if (sequence > 3) return undefined
      return {
        state: state(sequence),
        facts: [online(device, sequence)],
        isPartial: sequence < 3,
      }
    }
    const { facts, failed } = await store.judgeFacts({ devices: [{ ...device, judge }] })
    expect({ sequences: facts.map(({ sequence }) => sequence), failed }).toEqual({
      sequences: [1, 2, 3],
      failed: [],
    })
    expect(await store.pageFacts({ accountId: device.accountId, limit: 9 })).toHaveLength(3)
    expect(await stateOf(store, device)).toEqual(state(3))
  })

  promise('a device without a decision does not change', async ({ store }) => {
    const device = newDevice()
    await judge(store, device, [online(device, 1)])
    await store.judgeFacts({ devices: [{ ...device, judge: () => undefined }] })
    expect(await stateOf(store, device)).toEqual(state(1))
  })

  promise('a seed keeps an existing state', async ({ store }) => {
    const [known, fresh] = [newDevice(), newDevice()]
    await judge(store, known, [online(known, 1)])
    await store.seedFacts(
      [known, fresh].map((device) => ({ ...device, partition: 0, state: state(0) })),
    )
    expect(await stateOf(store, known)).toEqual(state(1))
    expect(await stateOf(store, fresh)).toEqual(state(0))
  })

  alone('due devices of a partition are ordered by deadline', async ({ store }) => {
    const devices = [3, 1, 2, 9].map((due) => ({ due, ...newDevice() }))
    const [later, first] = devices
    await store.seedFacts(
      devices.map(({ due, ...device }) => ({
        ...device,
        partition: due === 2 ? 1 : 0,
        state: { ...state(0), due: T0 + due },
      })),
    )
    const due = await store.dueDevices({ now: T0 + 3, limit: 9, partition: 0 })
    expect(due.map(({ deviceId }) => deviceId)).toEqual([first?.deviceId, later?.deviceId])
    expect(await store.dueDevices({ now: T0 + 3, limit: 1, partition: 0 })).toHaveLength(1)
    const [second] = await store.dueDevices({ now: T0 + 3, limit: 1, partition: 0, skip: 1 })
    expect(second?.deviceId).toBe(later?.deviceId)
    // A state without a deadline is never due.
    for (const { accountId, deviceId } of devices) {
      const device = { accountId, deviceId }
      await store.judgeFacts({
        devices: [{ ...device, judge: () => ({ state: state(0), facts: [] }) }],
      })
    }
    expect(await store.dueDevices({ now: T0 + 99, limit: 9, partition: 0 })).toEqual([])
  })

  promise('facts are listed newest first, in pages, and can be filtered', async ({ store }) => {
    const accountId = newAccountId()
    const [one, two] = [newDevice({ accountId }), newDevice({ accountId, deviceId: 'van-2' })]
    const facts = [
      online(one, 1, T0),
      alarm(one, 2, T0 + 5),
      online(two, 1, T0 + 5),
      alarm(two, 2, T0 + 1),
    ]
    await judge(store, one, facts.slice(0, 2))
    await judge(store, two, facts.slice(2))
    await judge(store, newDevice(), [online(newDevice(), 1)])
    const sorted = [...facts].sort((a, b) => b.at - a.at || b.sequence - a.sequence)
    const page = (query: Partial<Parameters<Store['pageFacts']>[0]> = {}) =>
      store.pageFacts({ accountId, limit: 9, ...query })
    expect(await page()).toEqual(sorted)
    const [first, second] = sorted
    expect(await page({ limit: 2 })).toEqual([first, second])
    expect(await page({ after: second! })).toEqual(sorted.slice(2))
    expect(await page({ deviceId: 'van-2', type: 'alarm.reported' })).toEqual([facts[3]])
    expect(await page({ from: T0 + 1, to: T0 + 5 })).toEqual([facts[3]])
    expect(await page({ devices: ['van-*'], type: 'device.online' })).toEqual([facts[2]])
    expect(await page({ devices: [] })).toEqual([])
    expect(await page({ deviceIds: ['van-2', 'other'], from: T0 + 5 })).toEqual([facts[2]])
    expect(await page({ deviceIds: [] })).toEqual([])
  })

  promise(
    'an erasure removes the facts of its device, once, and restarts its sequence',
    async ({ store }) => {
      const [gone, other] = [newDevice(), newDevice()]
      await judge(store, gone, [online(gone, 1)])
      await judge(store, other, [online(other, 1)])
      const { eventId } = deviceErased(gone)
      const erasure = log.erase(deviceErased({ ...gone, eventId })) as ErasureEntry
      await store.eraseFacts(erasure)
      expect(await store.pageFacts({ accountId: gone.accountId, limit: 9 })).toEqual([])
      expect(await stateOf(store, gone)).toMatchObject({ sequence: 0, due: null })
      expect(await store.pageFacts({ accountId: other.accountId, limit: 9 })).toHaveLength(1)
      await judge(store, gone, [online(gone, 1, T0 + 7)], (before) => ({
        ...state(1),
        erased: before!.erased!,
      }))
      // Its copy is later in the log.
      await store.eraseFacts(log.erase(deviceErased({ ...gone, eventId })) as ErasureEntry)
      await store.eraseFacts(erasure)
      expect(await store.pageFacts({ accountId: gone.accountId, limit: 9 })).toHaveLength(1)
    },
  )

  promise('once an erasure is confirmed, no fact of the device is listed', async ({ store }) => {
    const device = newDevice()
    await store.project(batchOf(log.append(positionReported({ ...device }))))
    await judge(store, device, [online(device, 1)])
    const erasure = deviceErased(device)
    await store.hideErased(erasure)
    expect(await store.pageFacts({ accountId: device.accountId, limit: 9 })).toEqual([])
  })

  promise(
    'facts are found by their ids, except facts of hidden devices or other accounts',
    async ({ store }) => {
      const accountId = newAccountId()
      const [own, hidden] = [
        newDevice({ accountId, deviceId: 'own' }),
        newDevice({ accountId, deviceId: 'hidden' }),
      ]
      const other = newDevice()
      const facts = [own, hidden, other].map((device) => online(device, 1))
      for (const [at, device] of [own, hidden, other].entries()) {
        await judge(store, device, facts.slice(at, at + 1))
      }
      await store.project(batchOf(log.append(positionReported({ ...hidden }))))
      await store.hideErased(deviceErased(hidden))
      const held = await store.heldFacts({ accountId, facts: [...facts, online(own, 2)] })
      expect(held).toEqual(new Set([facts[0]!.id]))
    },
  )

  alone(
    'retention removes facts decided earlier, and states of devices silent since then',
    async ({ store }) => {
      const [old, recent] = [newDevice(), newDevice()]
      await judge(store, old, [online(old, 1, T0)], () => seenAt(T0))
      await judge(store, recent, [online(recent, 1, T0 + 10)], () => seenAt(T0 + 10))
      await store.expireFacts(T0 + 5)
      expect(await store.pageFacts({ accountId: old.accountId, limit: 9 })).toEqual([])
      expect(await stateOf(store, old)).toBeUndefined()
      expect(await store.pageFacts({ accountId: recent.accountId, limit: 9 })).toHaveLength(1)
      expect(await stateOf(store, recent)).toEqual(seenAt(T0 + 10))
    },
  )

  alone('device settings that differ from the default are read', async ({ store }) => {
    const [plain, slow, off] = [newDevice(), newDevice(), newDevice()]
    await store.changeDeviceSettings({ ...plain, name: 'Van', changedAt: T0 })
    await store.changeDeviceSettings({ ...slow, expectedIntervalSeconds: 600, changedAt: T0 })
    await store.changeDeviceSettings({ ...off, disabled: true, changedAt: T0 })
    const own = ownChanges(
      (query) => store.watchSettings(query),
      [slow, off].map((device) => ({ id: deviceKey(device) })),
    )
    const found = (await own()).map(({ definition }) => definition)
    expect(found).toHaveLength(2)
    expect(found).toContainEqual({ ...slow, disabled: false, expectedIntervalSeconds: 600 })
    expect(found).toContainEqual({ ...off, disabled: true })
  })

  promise('the published facts equal the stored ones', async ({ store }) => {
    const device = newDevice()
    const fact = online(device, 1)
    const published: DeviceFact[] = []
    await store.judgeFacts({
      devices: [deciding(device, [fact])],
      publish: async (facts) => void published.push(...facts),
    })
    // If this store publishes facts, it does so once they are stored.
    expect([[], [fact]]).toContainEqual(published)
  })

  alone('origins are found for stored records, and for no others', async ({ store }) => {
    const accountId = newAccountId()
    const entry = log.append(positionReported({ accountId }))
    await store.project(batchOf(entry))
    const generation = await store.openGeneration(1)
    const { recordId } = entry.event
    const names = [
      { accountId, recordId },
      { accountId: newAccountId(), recordId },
      { accountId, recordId: 'other' },
    ]
    expect([...(await generation.recordOrigins(names))]).toEqual([
      [`${accountId}/${recordId}`, entry.origin],
    ])
    await generation.close()
  })

  alone(
    'a spool last reported as not empty is waiting, even if its instance is gone',
    async ({ store }) => {
      const report = (events: number, reportedAt: number) =>
        store.saveInstance({
          instanceId: `instance-${events}`,
          service: 'ingest-api',
          version: '1.0.0',
          host: 'quay',
          startedAt: T0,
          reportedAt,
          spool: { id: 'spool-1', events, bytes: events * 100, oldestSeconds: events },
        })
      await report(3, T0)
      expect(await store.waitingSpools({ reportedSince: T0 })).toBe(1)
      expect(await store.waitingSpools({ reportedSince: T0 + 1 })).toBe(0)
      await report(0, T0 + 1)
      expect(await store.waitingSpools({ reportedSince: T0 })).toBe(0)
    },
  )
}

function newDevice(changes: Partial<Name> = {}): Name {
  const { recordId } = positionReported()
  return { accountId: newAccountId(), deviceId: `tracker-${recordId}`, ...changes }
}

function state(sequence: number): FactState {
  return { sequence, applied: {}, due: null }
}

function seenAt(at: number): FactState {
  return { ...state(1), liveness: { seenAt: at, due: null } }
}

function online(device: Name, sequence: number, at = T0): DeviceFact {
  const fact = { ...device, type: 'device.online', sequence, at, previous: null } as const
  return { ...fact, id: factId(fact, ''), decidedAt: at, inside: [] }
}

function alarm(device: Name, sequence: number, at: number): DeviceFact {
  const fact = {
    ...device,
    type: 'alarm.reported',
    sequence,
    at,
    alarm: 'sos',
    late: false,
  } as const
  return { ...fact, id: factId(fact, ''), decidedAt: at, inside: [] }
}

function deciding(
  device: Name,
  facts: readonly DeviceFact[],
  next: (before: FactState | undefined) => FactState = () => state(facts.length),
): JudgeDevice {
  return { ...device, judge: (before) => ({ state: next(before), facts }) }
}

async function judge(
  store: Store,
  device: Name,
  facts: readonly DeviceFact[],
  next?: (before: FactState | undefined) => FactState,
) {
  return (await store.judgeFacts({ devices: [deciding(device, facts, next)] })).facts
}

async function stateOf(store: Store, device: Name): Promise<FactState | undefined> {
  let found: FactState | undefined
  await store.judgeFacts({
    devices: [{ ...device, judge: (before) => void (found = before) }],
  })
  return found
}
