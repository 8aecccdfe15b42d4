import { expect } from '@jest/globals'
import type { DefinitionsState } from '../../schemas/definitions/definitions-state.ts'
import type { FactState } from '../../schemas/facts/fact-state.ts'
import type { Store } from '../../store/store.ts'
import { positionReported, T0 } from '../samples.ts'
import { deviceKey } from '../../schemas/events/position-reported.ts'
import { ownChanges } from './store-definitions.ts'
import type { StoreSuite } from './store-suite.ts'
import { batchOf, deviceErased, newAccountId } from './store-samples.ts'

type Name = { readonly accountId: string; readonly deviceId: string }

/** The states of devices by geofence and rule. */
export function judgedDevicesContract({ promise, alone, log }: StoreSuite): void {
  promise('devices with a state are listed by id, in pages', async ({ store }) => {
    const accountId = newAccountId()
    // In the order of code points, which is not that of UTF-16.
    const ids = ['$ne', 'tug', 'van', '\u{ff5e}', '\u{1f69a}']
    for (const deviceId of [...ids].reverse()) await judge(store, { accountId, deviceId })
    await judge(store, { accountId: newAccountId(), deviceId: 'other' })
    const page = async (after?: string) =>
      (
        await store.judgedDevices({ accountId, limit: 2, ...(after !== undefined && { after }) })
      ).map(({ deviceId }) => deviceId)
    expect(await page()).toEqual(ids.slice(0, 2))
    expect(await page('tug')).toEqual(ids.slice(2, 4))
    expect(await page('\u{ff5e}')).toEqual(ids.slice(4))
    expect(await page('\u{1f69a}')).toEqual([])
  })

  promise('an erased device is listed at most once, with an empty state', async ({ store }) => {
    const device = { accountId: newAccountId(), deviceId: 'van' }
    await judge(store, device, inside('yard'))
    const erasure = log.erase(deviceErased(device))
    if (erasure.kind !== 'erasure') throw new Error('no erasure')
    await store.eraseFacts(erasure)
    const { accountId } = device
    expect((await store.judgedDevices({ accountId, limit: 9 })).length).toBeLessThanOrEqual(1)
    expect(await store.devicesWith({ accountId, definitionId: 'yard', limit: 9 })).toEqual([])
    expect(await store.definitionsStates({ accountId, deviceIds: ['van'] })).toEqual(new Map())
  })

  promise('states are returned for the requested devices', async ({ store }) => {
    const accountId = newAccountId()
    await judge(store, { accountId, deviceId: 'van' }, inside('yard'))
    await judge(store, { accountId, deviceId: 'tug' }, raised('slow', 1))
    await judge(store, { accountId, deviceId: 'car' }, inside('yard'))
    await judge(store, { accountId, deviceId: 'new' })
    await judge(store, { accountId: newAccountId(), deviceId: 'van' }, inside('quay'))
    const deviceIds = ['van', 'tug', 'new', 'unknown', '$ne']
    expect(await store.definitionsStates({ accountId, deviceIds })).toEqual(
      new Map([
        ['van', inside('yard')],
        ['tug', raised('slow', 1)],
      ]),
    )
    expect(await store.definitionsStates({ accountId, deviceIds: [] })).toEqual(new Map())
  })

  promise(
    'the devices in a geofence are listed with the time since when, until they have left',
    async ({ store, reopen }) => {
      const accountId = newAccountId()
      const who = (from: Store, definitionId = 'yard') =>
        from.devicesWith({ accountId, definitionId, limit: 9 })
      await judge(store, { accountId, deviceId: 'van' }, inside('yard', T0 + 5))
      await judge(store, { accountId, deviceId: 'car' }, inside('yard', null))
      await judge(store, { accountId, deviceId: 'tug' }, inside('quay'))
      await judge(store, { accountId, deviceId: 'bus' }, waiting('yard'))
      await judge(store, { accountId: newAccountId(), deviceId: 'other' }, inside('yard'))
      const both = [
        { deviceId: 'car', since: null },
        { deviceId: 'van', since: T0 + 5 },
      ]
      expect(await who(store)).toEqual(both)
      const next = await reopen()
      expect(await who(next)).toEqual(both)
      await judge(next, { accountId, deviceId: 'car' }, inside('quay', T0 + 9))
      expect(await who(next)).toEqual(both.slice(1))
      expect(await who(next, 'quay')).toEqual([
        { deviceId: 'car', since: T0 + 9 },
        { deviceId: 'tug', since: T0 },
      ])
      expect(await who(next, 'yar')).toEqual([])
      expect(await who(next, '.*')).toEqual([])
    },
  )

  promise('the devices for which a rule is raised match its revision', async ({ store }) => {
    const accountId = newAccountId()
    await judge(store, { accountId, deviceId: 'van' }, raised('slow', 1, T0 + 3))
    await judge(store, { accountId, deviceId: 'tug' }, raised('slow', 2, T0 + 4))
    await judge(store, { accountId, deviceId: 'car' }, raised('fast', 2))
    const who = (revision: number) =>
      store.devicesWith({ accountId, definitionId: 'slow', revision, limit: 9 })
    expect(await who(1)).toEqual([{ deviceId: 'van', since: T0 + 3 }])
    expect(await who(2)).toEqual([{ deviceId: 'tug', since: T0 + 4 }])
  })

  promise('a hidden device is in no geofence', async ({ store }) => {
    const device = { accountId: newAccountId(), deviceId: 'van' }
    await store.project(batchOf(log.append(positionReported(device))))
    await judge(store, device, inside('yard'))
    await store.hideErased(deviceErased(device))
    const { accountId } = device
    expect(await store.devicesWith({ accountId, definitionId: 'yard', limit: 9 })).toEqual([])
  })

  // On the shared store the settings of all other tests would be numbered first.
  alone(
    'followed settings carry the times of changes that matter to judging',
    async ({ store }) => {
      const accountId = newAccountId()
      const device = (deviceId: string) => ({ accountId, deviceId })
      const all = ['plain', 'slow', 'red', 'both'].map((deviceId) => ({
        id: deviceKey(device(deviceId)),
      }))
      const changes = ownChanges((query) => store.watchSettings(query), all)
      const settings = async () =>
        [...(await changes())]
          .sort((a, b) => (a.id < b.id ? -1 : 1))
          .map(({ id, definition }) => definition ?? id)
      const change = (deviceId: string, fields: object, changedAt: number) =>
        store.changeDeviceSettings({ ...device(deviceId), ...fields, changedAt })
      const labels = ['red', 'big "one"']
      await change('plain', { name: 'Van' }, T0)
      await change('slow', { expectedIntervalSeconds: 60 }, T0)
      await change('red', { labels }, T0 + 1)
      await change('both', { disabled: true, labels: ['red'] }, T0 + 2)
      const both = { ...device('both'), disabled: true, labels: ['red'], labelledSince: T0 + 2 }
      const sorted = [...labels].sort()
      const red = { ...device('red'), disabled: false, labels: sorted, labelledSince: T0 + 1 }
      const slow = { ...device('slow'), disabled: false, expectedIntervalSeconds: 60 }
      expect(await settings()).toEqual([both, deviceKey(device('plain')), red, slow])
      expect(await settings()).toEqual([])
      // None of these changes labels.
      await change('both', { name: 'New', labels: ['red'] }, T0 + 10)
      await change('both', { disabled: false }, T0 + 11)
      await change('red', { name: 'New', expectedIntervalSeconds: 9 }, T0 + 12)
      const enabled = { ...both, disabled: false, enabledSince: T0 + 11 }
      expect(await settings()).toEqual([enabled, { ...red, expectedIntervalSeconds: 9 }])
      const relabelled = { accountId, deviceIds: ['red', 'both'], changedAt: T0 + 20 }
      await store.changeLabels({ ...relabelled, add: ['red'], remove: [] })
      expect(await settings()).toEqual([])
      await store.changeLabels({ ...relabelled, add: ['blue'], remove: ['red', 'big "one"'] })
      const blue = { labels: ['blue'], labelledSince: T0 + 20 }
      expect(await settings()).toEqual([
        { ...enabled, ...blue },
        { ...red, expectedIntervalSeconds: 9, ...blue },
      ])
      // By a clock that is behind.
      await change('slow', { expectedIntervalSeconds: null }, T0 - 3_600_000)
      expect(await settings()).toEqual([deviceKey(device('slow'))])
    },
  )
}

function inside(id: string, since: number | null = T0): DefinitionsState {
  return {
    geofences: { standings: { [id]: { side: 'inside', since } } },
    rules: { standings: {} },
  }
}

/** Outside, and not yet inside for long enough. */
function waiting(id: string): DefinitionsState {
  const wait = { at: T0, receivedAt: T0 }
  return {
    geofences: { standings: { [id]: { side: 'outside', wait } } },
    rules: { standings: {} },
  }
}

function raised(id: string, revision: number, raisedAt = T0): DefinitionsState {
  return {
    geofences: { standings: {} },
    rules: { standings: { [id]: { revision, raisedAt } } },
  }
}

async function judge(store: Store, device: Name, definitions?: DefinitionsState): Promise<void> {
  const state: FactState = {
    sequence: 1,
    applied: {},
    due: null,
    ...(definitions !== undefined && { definitions }),
  }
  await store.judgeFacts({ devices: [{ ...device, judge: () => ({ state, facts: [] }) }] })
}
