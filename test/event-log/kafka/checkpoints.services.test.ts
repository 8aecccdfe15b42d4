import { randomUUID } from 'node:crypto'
import { expect, test } from '@jest/globals'
import type { EventLog, LogBatch } from '../../../event-log/event-log.ts'
import { partitionOf } from '../../../event-log/kafka/partitions.ts'
import { higherOffsets } from '../../../event-log/offsets.ts'
import { DependencyError } from '../../../runtime/errors.ts'
import { deviceKey, encodePositionReported } from '../../../schemas/events/position-reported.ts'
import type { Offsets } from '../../../schemas/devices/read-models.ts'
import { closeAfterwards } from '../../closing.ts'
import { eventually } from '../../eventually.ts'
import { positionReported } from '../../samples.ts'
import { describeWith } from '../../services/describe-with.ts'
import { openLog, plainKafka } from './harness.ts'

const SOON = { withinMs: 30_000 }

/** Read models with a checkpoint, as all members of their group see it. */
type Checkpoint = { offsets: Offsets }

await describeWith(['kafka'], 'a group with a checkpoint', ({ kafka }) => {
  test('each assignment starts at the current checkpoint, not at that of the start', async () => {
    const { log, topicPrefix } = await openLog(kafka)
    const other = await openLog(kafka, { topicPrefix })
    const group = `group-${randomUUID()}`
    const checkpoint: Checkpoint = { offsets: {} }
    const first = startMember(log, { group, checkpoint })
    for (let round = 0; round < 5; round += 1) await appendToAll(log)
    await eventually(() => first.offsets().length === 60, SOON)

    const second = startMember(other.log, { group, checkpoint })
    await eventually(async () => {
      await appendToAll(log)
      return second.partitions().size === 6
    }, SOON)
    expect(Math.min(...second.offsets().map(({ offset }) => offset))).toBeGreaterThan(4)

    // Restored to an earlier state: the next assignment starts there.
    checkpoint.offsets = {}
    await second.stop()
    await eventually(() => first.offsets().filter(({ offset }) => offset === 0).length >= 18, SOON)
  })

  test('delivers nothing before the checkpoint is known, and keeps asking for it', async () => {
    const { log } = await openLog(kafka)
    const group = `group-${randomUUID()}`
    const events = [positionReported(), positionReported(), positionReported()]
    await log.append(events)
    const before = startMember(log, { group, checkpoint: { offsets: {} } })
    await eventually(() => before.offsets().length === 3, SOON)
    const { partition } = before.offsets()[0]!
    await before.stop()
    // The group has committed all of them.
    await log.append([positionReported()])

    let asked = 0
    const resumed = startMember(log, {
      group,
      checkpoint: { offsets: {} },
      async resumeAfter() {
        asked += 1
        if (asked < 4) throw new DependencyError('the store is away', { retriable: true })
        expect(resumed.offsets()).toEqual([])
        return { [partition]: 0 }
      },
    })
    await eventually(() => resumed.offsets().length === 3, SOON)
    expect(resumed.offsets().map(({ offset }) => offset)).toEqual([1, 2, 3])
    expect(resumed.batches[0]?.after).toBe(0)
  })

  test('control records are committed, so that they count as no lag', async () => {
    const { log, topic } = await openLog(kafka)
    const group = `group-${randomUUID()}`
    const checkpoint: Checkpoint = { offsets: {} }
    const member = startMember(log, { group, checkpoint })
    const producer = plainKafka(kafka.brokers).producer({
      transactionalId: topic,
      idempotent: true,
      maxInFlightRequests: 1,
    })
    await producer.connect()
    const value = encodePositionReported(positionReported())
    for (const end of ['commit', 'abort'] as const) {
      const transaction = await producer.transaction()
      await transaction.send({ topic, messages: [{ key: 'acc-1/tracker-1', value }] })
      await transaction[end]()
      await eventually(async () => (await log.lag(group, checkpoint.offsets)).events === 0, SOON)
    }
    await producer.disconnect()
    expect(member.offsets()).toHaveLength(1)
    const follows = (batch: LogBatch, n: number) =>
      batch.after === (member.batches[n - 1]?.lastOffset ?? -1)
    expect(member.batches.every(follows)).toBe(true)
  })
})

/** Reads as a member of a group that moves its checkpoint with each batch. */
function startMember(
  log: EventLog,
  {
    group,
    checkpoint,
    resumeAfter = async () => checkpoint.offsets,
  }: { group: string; checkpoint: Checkpoint; resumeAfter?: () => Promise<Offsets> },
) {
  const batches: LogBatch[] = []
  const stopping = new AbortController()
  const ended = log.subscribe({
    group,
    resumeAfter,
    signal: stopping.signal,
    async onBatch(batch) {
      batches.push(batch)
      checkpoint.offsets = higherOffsets(checkpoint.offsets, {
        [batch.partition]: batch.lastOffset,
      })
    },
  })
  const offsets = () => batches.flatMap(({ entries }) => entries.map(({ origin }) => origin))
  const stop = async () => {
    stopping.abort()
    await ended
  }
  closeAfterwards(stop)
  return {
    batches,
    offsets,
    partitions: () => new Set(offsets().map(({ partition }) => partition)),
    stop,
  }
}

/** One event in each partition. */
async function appendToAll(log: EventLog): Promise<void> {
  await log.append(ONE_PER_PARTITION.map((deviceId) => positionReported({ deviceId })))
}

const PARTITIONS = Array.from({ length: 12 }, () => ({ leader: 1, inSync: 1 }))
const ONE_PER_PARTITION = PARTITIONS.map((_, partition) => {
  for (let n = 0; ; n += 1) {
    const deviceId = `tracker-${n}`
    if (partitionOf(deviceKey({ accountId: 'acc-1', deviceId }), PARTITIONS) === partition) {
      return deviceId
    }
  }
})
