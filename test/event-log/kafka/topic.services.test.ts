import { expect, test } from '@jest/globals'
import {
  encodeReportRejected,
  type ReportRejected,
} from '../../../schemas/events/report-rejected.ts'
import { readRejections, rejected } from '../../contracts/rejection-reader.ts'
import { eventually } from '../../eventually.ts'
import { positionReported } from '../../samples.ts'
import { describeWith } from '../../services/describe-with.ts'
import { occupyGroup, openLog, readTopic, silent, startReading } from './harness.ts'

const SOON = { withinMs: 30_000 }
const group = 'rejections'

await describeWith(['kafka'], 'topics in Kafka', ({ kafka }) => {
  const { brokers } = kafka

  test('entries are CloudEvents in their own topic, under the given key', async () => {
    const { log, topic } = await open()
    const rejection = rejected({ keyId: 'key-7', body: '{}' })
    await log.rejections.append([rejection])
    const [message] = await readTopic(brokers, topic, 1)
    expect(message!.key!.toString()).toBe('acc-1/key-7')
    expect(message!.timestamp).toBe(String(rejection.receivedAt))
    expect(message!.value!.toString()).toBe(encodeReportRejected(rejection))
    const headers = Object.entries(message!.headers ?? {}).map(([name, value]) => [
      name,
      String(value),
    ])
    expect(Object.fromEntries(headers)).toEqual({
      ce_specversion: '1.0',
      ce_id: rejection.rejectionId,
      ce_source: 'gps-position-ingestion',
      ce_type: 'ReportRejected.v1',
      ce_time: new Date(rejection.receivedAt).toISOString(),
      'content-type': 'application/json',
    })
  })

  test('entries go to one member of a group, and to the other when it ends', async () => {
    const { log, topicPrefix } = await open()
    const other = await open({ topicPrefix })
    const members = [readRejections(log, { group }), readRejections(other.log, { group })]
    await eventually(async () => {
      await log.rejections.append(ofManyKeys())
      return members.every(({ taken }) => taken.length > 0)
    }, SOON)
    // Rejections that arrived while the second reader joined may have been delivered twice.
    const last = ofManyKeys()
    await log.rejections.append(last)
    const ids = new Set(last.map(({ rejectionId }) => rejectionId))
    const seen = () =>
      members.map(({ taken }) => taken.filter(({ rejectionId }) => ids.has(rejectionId)).length)
    await eventually(() => seen()[0]! + seen()[1]! >= last.length, SOON)
    expect(seen()[0]! + seen()[1]!).toBe(last.length)
    expect(seen().every((count) => count > 0)).toBe(true)

    await members[1]!.stop()
    const after = ofManyKeys()
    await log.rejections.append(after)
    await eventually(() => {
      const taken = new Set(members[0]!.taken.map(({ rejectionId }) => rejectionId))
      return after.every(({ rejectionId }) => taken.has(rejectionId))
    }, SOON)
    await members[0]!.stop()
  })

  test('a failed consumer is replaced, and the process stays up', async () => {
    const { topicPrefix, topic } = await open()
    const groupId = `${topicPrefix}.${group}`
    const leave = await occupyGroup(brokers, { groupId, topic })
    const warnings: string[] = []
    const fatal: Error[] = []
    const { log } = await open({
      topicPrefix,
      logger: { ...silent, debug: (_, message) => void warnings.push(message) },
      onFatal: (error) => void fatal.push(error),
    })
    const reader = readRejections(log, { group })
    await eventually(() => warnings.includes('restarting a consumer'), SOON)
    await log.append([positionReported()])
    const positions = startReading(log)
    await eventually(() => positions.entries.length === 1, SOON)
    await positions.stop()

    await leave()
    const rejection = rejected()
    await log.rejections.append([rejection])
    await eventually(() => reader.taken.length === 1, SOON)
    expect(reader.taken).toEqual([rejection])
    expect(fatal).toEqual([])
    await reader.stop()
  })

  async function open(changes: Parameters<typeof openLog>[1] = {}) {
    const { log, topicPrefix } = await openLog(kafka, changes)
    return { log, topicPrefix, topic: `${topicPrefix}.report-rejected` }
  }
})

/** Enough keys for every partition. */
function ofManyKeys(): ReportRejected[] {
  return Array.from({ length: 30 }, (_, key) => rejected({ keyId: `key-${key}` }))
}
