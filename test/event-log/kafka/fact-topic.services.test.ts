import { expect, test } from '@jest/globals'
import type { FactLogEntry, FactTopic } from '../../../event-log/fact-log.ts'
import { eventually } from '../../eventually.ts'
import { deviceErased } from '../../samples.ts'
import { factsOfAllTypes } from '../../schemas/facts-samples.ts'
import { describeWith } from '../../services/describe-with.ts'
import { openLog, putRaw, readTopic } from './harness.ts'

const SOON = { withinMs: 30_000 }

await describeWith(['kafka'], 'the topic of facts', ({ kafka }) => {
  const { brokers } = kafka

  test('a fact is a CloudEvent under the key of its device, at the time of its decision', async () => {
    const { log, topicPrefix } = await openLog(kafka)
    const [fact] = factsOfAllTypes({ deviceId: 'Süd/7' })
    await log.facts.append([fact!])
    const [message] = await readTopic(brokers, `${topicPrefix}.device-events`, 1)
    expect(message!.key!.toString()).toBe('acc-1/Süd/7')
    expect(message!.timestamp).toBe(String(fact!.decidedAt))
    const headers = Object.entries(message!.headers ?? {})
    expect(Object.fromEntries(headers.map(([name, value]) => [name, String(value)]))).toEqual({
      ce_specversion: '1.0',
      ce_id: fact!.id,
      ce_source: 'gps-position-ingestion',
      ce_type: 'device.online.v1',
      ce_time: new Date(fact!.at).toISOString(),
      'content-type': 'application/json',
    })
    expect(JSON.parse(message!.value!.toString())).toMatchObject({
      accountId: 'acc-1',
      id: fact!.id,
      sequence: 1,
      type: 'device.online',
    })
  })

  test('facts of all types and erasures are read as they were written, in order', async () => {
    const { log } = await openLog(kafka)
    const facts = factsOfAllTypes()
    const erasure = deviceErased()
    await log.facts.append(facts)
    await log.facts.erase(erasure)
    const entries = await entriesOf(log.facts, facts.length + 1)
    expect(entries.slice(0, -1)).toMatchObject(facts.map((event) => ({ kind: 'fact', event })))
    expect(entries.at(-1)).toMatchObject({ kind: 'erasure', event: erasure })
    expect(new Set(entries.map(({ origin }) => origin.partition)).size).toBe(1)
  })

  test('facts of a device go to the partition of its positions', async () => {
    const { log, topicPrefix } = await openLog(kafka)
    for (let n = 0; n < 20; n += 1) {
      const device = { accountId: 'acc-1', deviceId: `van-${n}` }
      await log.erase(deviceErased(device))
      await log.facts.erase(deviceErased(device))
    }
    const places = async (topic: string) => {
      const entries = await entriesOf(
        topic === 'facts' ? log.facts : { tail: (from) => log.tail(from) as never },
        20,
      )
      return new Map(
        entries.map((entry) => [
          entry.kind === 'erasure' ? entry.event.deviceId : '',
          entry.origin.partition,
        ]),
      )
    }
    expect(await places('facts')).toEqual(await places(topicPrefix))
  })

  test('foreign entries delay nothing: types of later versions are unknown, the rest unreadable', async () => {
    const { log, topicPrefix } = await openLog(kafka)
    const topic = `${topicPrefix}.device-events`
    const key = 'acc-1/tracker-1'
    const ce_type = 'device.offline.v1'
    for (const [headers, value] of [
      [{ ce_type: 'device.moved.v1' }, '{}'],
      [{ ce_type }, 'rubbish'],
      [{ ce_type }, null],
      [{ ce_type: 'DeviceErased.v1' }, null],
    ] as const) {
      await putRaw(brokers, topic, { key, headers, value })
    }
    await log.facts.append(factsOfAllTypes().slice(0, 1))
    const entries = await entriesOf(log.facts, 5)
    const kinds = ['unknown', 'unreadable', 'unreadable', 'unreadable', 'fact']
    expect(entries.map(({ kind }) => kind)).toEqual(kinds)
  })

  test('retention removes facts by the time of their decision', async () => {
    const { log } = await openLog(kafka)
    const [first, second] = factsOfAllTypes()
    await log.facts.append([first!])
    await log.facts.append([{ ...second!, decidedAt: first!.decidedAt + 86_400_000 }])
    const place = await log.facts.placeBefore(first!.decidedAt + 1_000)
    expect(Object.values(place).filter((offset) => offset === 0)).toHaveLength(1)
    await log.trim(first!.decidedAt + 1_000)
    await eventually(async () => {
      const held = (await log.facts.extent()).filter(({ first, next }) => first < next)
      return held.length === 1 && held[0]!.first === 1 && !held[0]!.whole
    }, SOON)
  })
})

type FactTopicEntry = FactLogEntry

async function entriesOf(
  topic: Pick<FactTopic, 'tail'>,
  count: number,
): Promise<readonly FactTopicEntry[]> {
  const ending = new AbortController()
  const entries: FactTopicEntry[] = []
  for await (const item of topic.tail({ after: {}, signal: ending.signal })) {
    if (item.kind === 'batch') entries.push(...item.entries)
    if (entries.length >= count) break
  }
  ending.abort()
  return entries
}
