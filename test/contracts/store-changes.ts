import { expect } from '@jest/globals'
import { deviceStatus } from '../../projector/device-status.ts'
import { deviceSeen, positionReported } from '../samples.ts'
import type { Change, ProjectionEntry } from '../../store/read-models.ts'
import type { StoreSuite } from './store-suite.ts'
import { batchOf, canonical, deviceErased } from './store-samples.ts'

/** The result of projecting: each device before and after, and the outcome of each entry. */
export function changesContract({ promise, shared, log }: StoreSuite): void {
  async function project(...entries: [ProjectionEntry, ...ProjectionEntry[]]) {
    const changes = await shared.store.project(batchOf(...entries))
    return [...changes].sort((a, b) => (a.deviceId < b.deviceId ? -1 : 1)).map(told)
  }

  promise(
    'changes contain each device’s status before and after, as folded',
    async ({ accountId }) => {
      const [a1, b1, a2, a3] = ['a', 'b', 'a', 'a'].map((deviceId) =>
        log.append(positionReported({ accountId, deviceId })),
      ) as [Entry, Entry, Entry, Entry]
      const one = deviceStatus(undefined, a1)
      const two = deviceStatus(one, a2)
      expect(await project(a1, b1, a2)).toEqual([
        change(accountId, 'a', { after: two, stored: [a1, a2] }),
        change(accountId, 'b', { after: deviceStatus(undefined, b1), stored: [b1] }),
      ])
      const repeat = log.append(a1.event)
      const after = deviceStatus(deviceStatus(two, a3), { ...repeat, kind: 'repeat' })
      expect(await project(a3, repeat)).toEqual([
        change(accountId, 'a', { before: two, after, stored: [a3], repeated: [repeat] }),
      ])
    },
  )

  promise(
    'a repeat alone is a change of its device, an imported repeat is not',
    async ({ accountId }) => {
      const first = log.append(positionReported({ accountId, deviceId: 'a' }))
      await project(first)
      const status = deviceStatus(undefined, first)
      const repeat = log.append({ ...first.event, receivedAt: first.event.receivedAt + 1 })
      const after = deviceStatus(status, { ...repeat, kind: 'repeat' })
      expect(await project(repeat)).toEqual([
        change(accountId, 'a', { before: status, after, repeated: [repeat] }),
      ])
      const imported = log.append({ ...repeat.event, imported: true })
      expect(await project(imported)).toEqual([
        change(accountId, 'a', { before: after, after, repeated: [imported] }),
      ])
    },
  )

  promise(
    'a heartbeat is a change of its device, unless an erasure follows it',
    async ({ accountId }) => {
      const named = { accountId, deviceId: 'a' }
      const first = log.append(positionReported(named))
      const seen = log.hear(deviceSeen(named))
      const after = deviceStatus(deviceStatus(undefined, first), seen)
      expect(await project(first, seen)).toEqual([
        change(accountId, 'a', { after, stored: [first], seen: [seen] }),
      ])
      const erasure = log.erase(deviceErased(named)) as Erasure
      expect(await project(log.hear(deviceSeen(named)), erasure)).toEqual([
        change(accountId, 'a', { before: after, erased: [erasure] }),
      ])
    },
  )

  promise('a redelivered batch makes no changes, even after a restart', async ({ accountId }) => {
    const first = log.append(positionReported({ accountId, deviceId: 'a' }))
    const second = log.append(positionReported({ accountId, deviceId: 'b' }))
    await project(first, second)
    expect(await project(first, second)).toEqual([])
    await shared.reopen()
    expect(await project(first, second)).toEqual([])
  })

  promise('changes of a batch omit reports that its erasure removed', async ({ accountId }) => {
    const known = log.append(positionReported({ accountId, deviceId: 'a' }))
    await project(known)
    const taken = log.append(positionReported({ accountId, deviceId: 'a' }))
    const erasure = log.erase(deviceErased({ accountId, deviceId: 'a' })) as Erasure
    const next = log.append(positionReported({ accountId, deviceId: 'a' }))
    const before = deviceStatus(undefined, known)
    const after = deviceStatus(undefined, next)
    expect(await project(taken, erasure, next)).toEqual([
      change(accountId, 'a', { before, after, stored: [next], erased: [erasure] }),
    ])
    const copy = log.erase(erasure.event)
    expect(await project(copy)).toEqual([
      change(accountId, 'a', { before: after, after, repeated: [copy] }),
    ])
    const last = log.erase(deviceErased({ accountId, deviceId: 'a' })) as Erasure
    expect(await project(last)).toEqual([change(accountId, 'a', { before: after, erased: [last] })])
  })
}

type Entry = Change['stored'][number]
type Erasure = Change['erased'][number]

function change(
  accountId: string,
  deviceId: string,
  what: Partial<Omit<Change, 'accountId' | 'deviceId'>>,
) {
  const none = {
    before: undefined,
    after: undefined,
    stored: [],
    seen: [],
    repeated: [],
    erased: [],
  }
  return told({ accountId, deviceId, ...none, ...what })
}

/** `applied` is the offset of a status, which differs between stores. */
function told({ before, after, ...rest }: Change) {
  return { ...rest, before: before && canonical(before), after: after && canonical(after) }
}
