import { expect } from '@jest/globals'
import { countChanges } from '../../projector/projector.ts'
import { deviceStatus, FOLD_VERSION } from '../../projector/device-status.ts'
import { positionReported } from '../samples.ts'
import { WentBackError } from '../../store/read-models.ts'
import type { Fold } from '../../store/read-models.ts'
import type { StoreSuite } from './store-suite.ts'
import { batchOf, deviceErased, everythingOf, newAccountId } from './store-samples.ts'

export function projectionContract({ promise, alone, shared, log }: StoreSuite): void {
  promise('a measurement that was not reported is absent, not null', async ({ accountId }) => {
    const entry = log.append(positionReported({ accountId, speed: 3 }))
    await shared.store.project(batchOf(entry))
    const { recordId } = entry.event
    const found = await shared.store.findPosition({ accountId, recordId })
    expect(Object.keys(found ?? {}).sort()).toEqual([...Object.keys(entry.event), 'origin'].sort())
  })

  promise(
    'another device’s report with an existing recordId is a repeat, and blocks nothing',
    async ({ accountId }) => {
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

      // Erasing the repeating device removes nothing of the other, and frees no recordId.
      const erasure = log.erase(deviceErased({ accountId, deviceId: 'two' }))
      const afresh = log.append({ ...first.event, deviceId: 'two' })
      await shared.store.project(batchOf(erasure, afresh))
      const { recordId } = first.event
      const found = await shared.store.findPosition({ accountId, recordId })
      expect(found).toEqual({ ...first.event, origin: first.origin })
    },
  )

  promise('one recordId in two accounts is two records', async () => {
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

  promise('a batch that failed halfway is complete after redelivery', async ({ accountId }) => {
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

  promise('the checkpoint is the end of the last batch, even after a restart', async () => {
    const partition = 7
    expect((await shared.store.checkpoint())[partition]).toBeUndefined()
    const entry = log.append(positionReported({ accountId: newAccountId() }), partition)
    await shared.store.project({ ...batchOf(entry), lastOffset: 3 })
    expect((await shared.store.checkpoint())[partition]).toBe(3)
    const unreadable = {
      partition,
      lastOffset: 9,
      entries: [],
      fold: deviceStatus,
      foldVersion: FOLD_VERSION,
    }
    await shared.store.project(unreadable)
    await shared.store.project({ ...unreadable, lastOffset: 5 })
    await shared.reopen()
    expect((await shared.store.checkpoint())[partition]).toBe(9)
  })

  alone(
    'a batch that does not follow the last one is rejected, and nothing of it is written',
    async ({ store, accountId, log }) => {
      const append = () => log.append(positionReported({ accountId }))
      await store.project(batchOf(append()))
      const lost = append()
      const next = batchOf(append())
      const generation = await store.openGeneration(1)
      const refused = generation.project({ ...next, after: lost.origin.offset })
      await expect(refused).rejects.toBeInstanceOf(WentBackError)
      expect(await store.checkpoint()).toEqual({ 0: 0 })
      expect((await everythingOf(store, accountId)).records).toHaveLength(1)

      await generation.project({ ...batchOf(lost), after: 0 })
      await generation.project({ ...next, after: lost.origin.offset })
      expect(await store.checkpoint()).toEqual({ 0: 2 })
      expect((await everythingOf(store, accountId)).records).toHaveLength(3)
      await generation.close()
    },
  )

  const everything = (accountId: string) => everythingOf(shared.store, accountId)
}

function brokenAfter(calls: number): Fold {
  let made = 0
  return (previous, item) => {
    made += 1
    if (made > calls) throw new Error('the fold broke')
    return deviceStatus(previous, item)
  }
}
