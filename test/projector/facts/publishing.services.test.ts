import { expect, test } from '@jest/globals'
import { factsOfAllTypes } from '../../schemas/facts-samples.ts'
import type { FactTopic } from '../../../event-log/fact-log.ts'
import type { DeviceFact } from '../../../schemas/facts/facts.ts'
import { openLog, readTopic } from '../../event-log/kafka/harness.ts'
import { describeWith } from '../../services/describe-with.ts'
import { T0 } from '../../samples.ts'
import { testDatabase } from '../../store/mongo/database.ts'

await describeWith(['kafka', 'mongodb'], 'publishing facts', ({ kafka, mongodb }) => {
  test('a crash between state and append repeats the facts with their ids and sequences', async () => {
    const { log, topicPrefix } = await openLog(kafka)
    const database = testDatabase(mongodb)
    try {
      let now = T0
      const store = await database.open({ clock: { now: () => now } })
      const device = { accountId: 'acc-1', deviceId: 'tracker-1' }
      const facts = factsOfAllTypes().slice(0, 3)
      const publishTo = (topic: Pick<FactTopic, 'append'>) => ({
        publish: (decided: readonly DeviceFact[]) => topic.append(decided),
      })
      const deciding = (some: readonly DeviceFact[]) => ({
        ...device,
        judge: () => ({
          state: { sequence: some.at(-1)!.sequence, applied: {}, due: null },
          facts: some,
        }),
      })
      const crashing = { append: () => Promise.reject<void>(new Error('killed before the append')) }
      const first = { devices: [deciding(facts.slice(0, 2))] }
      await expect(store.judgeFacts({ ...first, ...publishTo(crashing) })).rejects.toThrow('killed')
      const due = () => store.dueDevices({ now: 1, limit: 9, partition: 0 })
      // The process that decided them may still publish them.
      now = T0 + 9_999
      expect(await due()).toEqual([])
      now = T0 + 10_000
      expect(await due()).toEqual([device])
      const nothing = { devices: [{ ...device, judge: () => undefined }] }
      await store.judgeFacts({ ...nothing, ...publishTo(log.facts) })
      await store.judgeFacts({ devices: [deciding(facts.slice(2))], ...publishTo(log.facts) })
      const messages = await readTopic(kafka.brokers, `${topicPrefix}.device-events`, 3)
      const published = messages.map(({ headers, value }) => ({
        id: String(headers?.['ce_id']),
        sequence: (JSON.parse(value!.toString()) as { sequence: number }).sequence,
      }))
      expect(published).toEqual(facts.map(({ id, sequence }) => ({ id, sequence })))
      expect(await due()).toEqual([])
    } finally {
      await database.drop()
    }
  })

  test('a confirmed but unrecorded append is repeated unchanged', async () => {
    const { log, topicPrefix } = await openLog(kafka)
    const database = testDatabase(mongodb)
    try {
      const store = await database.open()
      const device = { accountId: 'acc-1', deviceId: 'tracker-1' }
      const facts = factsOfAllTypes().slice(0, 1)
      const judge = () => ({ state: { sequence: 1, applied: {}, due: null }, facts })
      const publish = async (decided: readonly DeviceFact[]) => {
        await log.facts.append(decided)
        throw new Error('killed after the append')
      }
      await expect(store.judgeFacts({ devices: [{ ...device, judge }], publish })).rejects.toThrow()
      await store.judgeFacts({
        devices: [{ ...device, judge: () => undefined }],
        publish: (decided) => log.facts.append(decided),
      })
      const messages = await readTopic(kafka.brokers, `${topicPrefix}.device-events`, 2)
      const [one, other] = messages
      expect(one!.value).toEqual(other!.value)
      expect(String(one!.headers?.['ce_id'])).toBe(String(other!.headers?.['ce_id']))
    } finally {
      await database.drop()
    }
  })
})
