import { expect } from '@jest/globals'
import type { LabelCount, LabelledDevice } from '../../store/read-models.ts'
import { deviceErased, positionReported, T0 } from '../samples.ts'
import type { StoreSuite } from './store-suite.ts'
import { allDevices, batchOf, type PositionEntry } from './store-samples.ts'

/** Labels that a careless query would confuse. */
const ODD_LABELS = [
  ...['van', 'va', 'VAN', 'van 2', ',', '","', "'", '%', '$van', '[van]', 'v.n', '\\n', '🚚'],
]

export function labelsContract({ promise, alone, shared, log }: StoreSuite): void {
  promise(
    'labels of a device are sorted, and stay with its other settings',
    async ({ accountId }) => {
      await report(accountId, ['tug'])
      const change = { accountId, deviceId: 'tug', changedAt: T0 }
      const set = await shared.store.changeDeviceSettings({ ...change, labels: ['b', 'a', 'A'] })
      expect(set).toEqual({ disabled: false, labels: ['A', 'a', 'b'] })
      await shared.store.changeDeviceSettings({ ...change, name: 'Tug' })
      await shared.reopen()
      expect(await labelsOf(accountId)).toEqual({ tug: ['A', 'a', 'b'] })
      const bare = await shared.store.changeDeviceSettings({ ...change, labels: [] })
      expect(bare).toEqual({ disabled: false, name: 'Tug' })
    },
  )

  promise('labels of many devices change in one call, each separately', async ({ accountId }) => {
    await report(accountId, ['full', 'new', 'old', 'same', 'other'])
    const sixteen = Array.from({ length: 16 }, (_, n) => `label ${n}`)
    await label(accountId, { full: sixteen, old: ['spare', 'red'], same: ['van'], other: ['red'] })
    const change = () =>
      shared.store.changeLabels({
        accountId,
        deviceIds: ['old', 'full', 'same', 'new'],
        changedAt: T0,
        add: ['van'],
        remove: ['spare', 'none'],
      })
    const full = [...sixteen].sort()
    expect(await change()).toEqual([
      { deviceId: 'old', outcome: 'changed', labels: ['red', 'van'] },
      { deviceId: 'full', outcome: 'too many', labels: full },
      { deviceId: 'same', outcome: 'unchanged', labels: ['van'] },
      { deviceId: 'new', outcome: 'changed', labels: ['van'] },
    ] satisfies LabelledDevice[])
    const again = (await change()).map(({ outcome }) => outcome)
    expect(again).toEqual(['unchanged', 'too many', 'unchanged', 'unchanged'])
    expect(await labelsOf(accountId)).toEqual({
      full,
      new: ['van'],
      old: ['red', 'van'],
      same: ['van'],
      other: ['red'],
    })
  })

  promise('no concurrently added label is lost', async ({ accountId }) => {
    await report(accountId, ['one', 'two'])
    await label(accountId, { two: ['spare'] })
    const added = ['a', 'b', 'c', 'd']
    const results = await Promise.all(
      added.map((one) =>
        shared.store.changeLabels({
          accountId,
          deviceIds: ['one', 'two'],
          changedAt: T0,
          add: [one],
          remove: ['spare'],
        }),
      ),
    )
    const outcomes = results.flat().map(({ outcome }) => outcome)
    expect(outcomes).toEqual(Array.from({ length: 8 }, () => 'changed'))
    expect(await labelsOf(accountId)).toEqual({ one: added, two: added })
  })

  promise('labels are counted by device, also for listed devices', async ({ accountId }) => {
    await report(accountId, ['a-1', 'a-2', 'b-1', 'gone'])
    const van = ['van']
    await label(accountId, { 'a-1': ODD_LABELS, 'a-2': van, 'b-1': ['van', 'tug'], gone: van })
    await shared.store.hideErased(deviceErased({ accountId, deviceId: 'gone' }))
    const all = await shared.store.countLabels({ accountId, limit: 99 })
    expect(all.map(({ label }) => label)).toEqual([...ODD_LABELS, 'tug'].sort())
    expect(counted(all)).toMatchObject({ van: 3, tug: 1, VAN: 1, ',': 1 })
    const devices = ['a-2', 'b*', 'gone']
    expect(await shared.store.countLabels({ accountId, limit: 99, devices })).toEqual([
      { label: 'tug', devices: 1 },
      { label: 'van', devices: 2 },
    ])
    for (const limit of [1, 3, all.length]) {
      const paged = []
      for (let after: string | undefined; ;) {
        const page = await shared.store.countLabels({ accountId, limit, ...(after && { after }) })
        paged.push(...page)
        after = page.at(-1)?.label
        if (page.length < limit) break
      }
      expect(paged).toEqual(all)
    }
  })

  alone(
    'labels are removed with all other settings of a device, also on expiry',
    async ({ store }) => {
      const accountId = 'acc-1'
      const reports = ['named', 'disabled'].map((deviceId) =>
        log.append(positionReported({ accountId, deviceId, receivedAt: T0 })),
      )
      await store.project(batchOf(...(reports as [PositionEntry])))
      for (const deviceId of ['named', 'disabled', 'forgotten']) {
        const change = { accountId, deviceId, changedAt: T0, labels: ['van'] }
        await store.changeDeviceSettings({ ...change, disabled: deviceId === 'disabled' })
      }
      await store.forgetErased(deviceErased({ accountId, deviceId: 'forgotten', erasedAt: T0 }))
      await store.expire(T0 + 1)
      expect(await store.countLabels({ accountId, limit: 9 })).toEqual([])
      expect(await store.isDisabled({ accountId, deviceId: 'disabled' })).toBe(true)
    },
  )

  async function report(accountId: string, deviceIds: readonly string[]): Promise<void> {
    const entries = deviceIds.map((deviceId) =>
      log.append(positionReported({ accountId, deviceId })),
    )
    await shared.store.project(batchOf(...(entries as [PositionEntry])))
  }

  async function label(accountId: string, labels: Record<string, readonly string[]>) {
    for (const [deviceId, own] of Object.entries(labels)) {
      const change = { accountId, deviceId, changedAt: T0 }
      await shared.store.changeDeviceSettings({ ...change, labels: own })
    }
  }

  async function labelsOf(accountId: string): Promise<object> {
    const devices = await allDevices(shared.store, accountId)
    return Object.fromEntries(
      devices.map(({ status, settings }) => [status.deviceId, settings.labels]),
    )
  }
}

function counted(counts: readonly LabelCount[]): Record<string, number> {
  return Object.fromEntries(counts.map(({ label, devices }) => [label, devices]))
}
