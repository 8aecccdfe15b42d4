import { expect } from '@jest/globals'
import type { DeviceFact } from '../../../schemas/facts/facts.ts'
import { factId } from '../../../schemas/facts/facts.ts'
import type { JudgeDevice } from '../../../store/facts.ts'
import { makeFactIndexes, openFactCollections } from '../../../store/mongo/fact-documents.ts'
import { factWrites } from '../../../store/mongo/judge-facts.ts'
import { newAccountId } from '../../contracts/store-samples.ts'
import { T0 } from '../../samples.ts'
import { describeWith } from '../../services/describe-with.ts'
import { mongoSuite } from './database.ts'

const clock = { now: () => T0 }
type Name = { readonly accountId: string; readonly deviceId: string }

await describeWith(['mongodb'], 'facts in size-limited writes', ({ mongodb }) => {
  const { promise } = mongoSuite(mongodb)

  promise(
    'a device whose state exceeds a document’s limit is skipped: the others of its batch are written',
    async ({ open, db }) => {
      const store = await open()
      const accountId = newAccountId()
      const [van, tug, bus] = ['van', 'tug', 'bus'].map((deviceId) => ({ accountId, deviceId }))
      const tooLarge = { onTime: { ['x'.repeat(17 * 2 ** 20)]: T0 }, late: {} }
      const { facts, failed } = await factWrites({
        collections: openFactCollections(db),
        clock,
      }).judgeFacts({
        read: { partition: 7, lastOffset: 3 },
        devices: [
          deciding(van!, [fact(van!, 1)]),
          {
            ...tug!,
            judge: () => ({
              state: { sequence: 1, applied: {}, due: null, alarms: tooLarge },
              facts: [fact(tug!, 1)],
            }),
          },
          deciding(bus!, [fact(bus!, 1)]),
        ],
      })
      expect(failed).toMatchObject([{ ...tug, error: expect.anything() }])
      expect(new Set(facts)).toEqual(new Set([fact(van!, 1), fact(bus!, 1)]))
      expect(await store.pageFacts({ accountId, limit: 9 })).toHaveLength(2)
      const { progress } = openFactCollections(db)
      expect(await progress.findOne({ _id: 7 })).toMatchObject({ upTo: 3 })
    },
  )

  promise(
    'facts that a process of version 0.3.0 left in an outbox are inserted and published',
    async ({ open, db }) => {
      const store = await open()
      const device = { accountId: newAccountId(), deviceId: 'van' }
      const facts = [fact(device, 1), fact(device, 2)]
      const collections = openFactCollections(db)
      await factWrites({ collections, clock }).judgeFacts({ devices: [deciding(device, [])] })
      await collections.states.updateOne(
        { accountId: device.accountId },
        { $set: { due: 0, outbox: facts.map((one) => JSON.stringify(one)) } },
      )
      const published: DeviceFact[] = []
      await factWrites({ collections, clock }).judgeFacts({
        devices: [{ ...device, judge: () => undefined }],
        publish: async (sent) => void published.push(...sent),
      })
      expect(published).toEqual(facts)
      const stored = await store.pageFacts({ accountId: device.accountId, limit: 9 })
      expect(stored).toEqual([...facts].reverse())
    },
  )

  promise(
    'facts inserted by version 0.3.0 are listed after others of the same time, each once, in pages',
    async ({ open, db }) => {
      const store = await open()
      const device = { accountId: newAccountId(), deviceId: 'van' }
      const facts = [1, 2, 3, 4, 5].map((n) => fact(device, n))
      const collections = openFactCollections(db)
      await factWrites({ collections, clock }).judgeFacts({ devices: [deciding(device, facts)] })
      const older = { $in: [1, 4].map((n) => `${device.accountId}/${facts[n]!.id}`) }
      await collections.facts.updateMany({ _id: older }, { $unset: { sequence: 1 } })
      const listed: DeviceFact[] = []
      for (let page: readonly DeviceFact[] | undefined; page?.length !== 0;) {
        const after = listed.at(-1)
        const query = { accountId: device.accountId, limit: 1 }
        page = await store.pageFacts({ ...query, ...(after && { after }) })
        listed.push(...page)
      }
      expect(listed.slice(0, 3).map(({ sequence }) => sequence)).toEqual([4, 3, 1])
      expect(new Set(listed.slice(3).map(({ sequence }) => sequence))).toEqual(new Set([2, 5]))
      expect(listed).toHaveLength(5)
    },
  )

  promise(
    'the indexes of version 0.3.0 are dropped once those with the sequence exist',
    async ({ db }) => {
      const collections = openFactCollections(db)
      await collections.facts.createIndexes([
        { name: 'account', key: { accountId: 1, at: 1, _id: 1 } },
        { name: 'type', key: { accountId: 1, type: 1, at: 1, _id: 1 } },
      ])
      await makeFactIndexes(collections)
      const names = (await collections.facts.listIndexes().toArray()).map(
        ({ name }) => name as string,
      )
      expect(names).toEqual(expect.arrayContaining(['newest', 'newest_of_type', 'decided']))
      expect(names).not.toContain('account')
      expect(names).not.toContain('type')
    },
  )
})

function deciding(device: Name, facts: readonly DeviceFact[]): JudgeDevice {
  return {
    ...device,
    judge: () => ({ state: { sequence: facts.length, applied: {}, due: null }, facts }),
  }
}

/** All have the same time. */
function fact(device: Name, sequence: number): DeviceFact {
  const online = { ...device, type: 'device.online', sequence, at: T0, previous: null } as const
  return { ...online, id: factId(online, ''), decidedAt: T0, inside: [] }
}
