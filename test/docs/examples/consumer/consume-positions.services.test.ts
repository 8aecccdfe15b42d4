import { randomBytes } from 'node:crypto'
import { afterEach, expect, test } from '@jest/globals'
import { openKafkaEventLog } from '../../../../event-log/kafka/kafka-event-log.ts'
import { logOptions, putRaw, whenReady } from '../../../event-log/kafka/harness.ts'
import { eventually } from '../../../eventually.ts'
import { startProgram } from '../../../programs.ts'
import type { RunningProgram } from '../../../running-programs.ts'
import { deviceErased, deviceSeen, positionReported } from '../../../samples.ts'
import { factsOfAllTypes } from '../../../schemas/facts-samples.ts'
import { describeWith } from '../../../services/describe-with.ts'

const PROGRAM = 'docs/examples/consumer/consume-positions'

await describeWith(['kafka', 'schemaRegistry'], 'the example consumer', (services) => {
  const { brokers } = services.kafka
  const { url } = services.schemaRegistry
  const closers: (() => Promise<unknown>)[] = []

  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close()
  })

  test.each([
    ['JSON', undefined],
    ['Avro', { url }],
  ])(
    'prints each position of a log in %s once, although the log also has repeats and other entries',
    async (_, registry) => {
      const { log, topic } = await open(registry)
      const devices = ['van 1', 'vän/2', 'van-3']
      const events = Array.from({ length: 30 }, (_, index) =>
        positionReported({ deviceId: devices[index % 3]!, speed: index }),
      )
      await log.append(events.slice(0, 20))
      await log.append(events.slice(10, 20))
      const key = `acc-1/${devices[0]}`
      await putRaw(brokers, topic, { key, value: null, headers: { ce_type: 'DeviceMoved.v1' } })
      await putRaw(brokers, topic, {
        key,
        value: '{"truncated":',
        headers: { ce_type: 'PositionReported.v1', ce_id: '1' },
      })
      const heartbeat = deviceSeen({ deviceId: devices[0]! })
      await log.append([...events.slice(20), heartbeat, ...events.slice(0, 3)])
      const last = positionReported({ deviceId: devices[0]! })
      await log.append([last])

      const consumer = start(topic, registry)
      await until(consumer, () => printed(consumer).length > events.length)
      for (const deviceId of devices) {
        const expected = [...events, last].filter((event) => event.deviceId === deviceId)
        const got = printed(consumer).filter((position) => position['deviceId'] === deviceId)
        expect(got).toEqual(
          expected.map(({ keyId: _keyId, timestampSource: _source, ...position }) => ({
            ...position,
            timestamp: new Date(position.timestamp).toISOString(),
            receivedAt: new Date(position.receivedAt).toISOString(),
          })),
        )
      }
      const { accountId, deviceId, receivedAt } = heartbeat
      const seenAt = new Date(receivedAt).toISOString()
      expect(consumer.output()).toContain(`\n${JSON.stringify({ accountId, deviceId, seenAt })}\n`)
      expect(consumer.output()).toMatch(/skipped \d+\/\d+ \(acc-1\/van 1\): it is DeviceMoved\.v1/)
      expect(consumer.output().match(/^skipped /gm)).toHaveLength(2)
    },
  )

  test('the consumer prints each fact once, and erasures between them', async () => {
    const { log, topic } = await open()
    const facts = factsOfAllTypes()
    await log.facts.append(facts)
    await log.facts.append(facts.slice(3))
    const erasure = deviceErased()
    await log.facts.erase(erasure)
    await log.facts.append(facts.slice(0, 1))
    const consumer = start(topic.replace('position-reported', 'device-events'))
    const printedLines = () => printed(consumer, /^\{.*"(sequence|eventId)".*\}$/)
    await until(consumer, () => printedLines().length >= facts.length + 2)
    const lines = printedLines()
    expect(lines.map((line) => line['type'] ?? 'erasure')).toEqual([
      ...facts.map(({ type }) => type),
      'erasure',
      facts[0]!.type,
    ])
  })

  test('the consumer reports an erasure, and treats later reports as new', async () => {
    const { log, topic } = await open()
    const [before, after] = [positionReported(), positionReported()]
    const erasure = deviceErased()
    await log.append([before])
    await log.erase(erasure)
    await log.append([before])
    await log.erase(erasure)
    await log.append([before, after])
    const consumer = start(topic)
    await until(consumer, () =>
      printed(consumer).some((line) => line['recordId'] === after.recordId),
    )
    expect(printed(consumer).map((line) => line['recordId'] ?? line)).toEqual([
      before.recordId,
      { ...erasure, erasedAt: new Date(erasure.erasedAt).toISOString() },
      before.recordId,
      after.recordId,
    ])
    expect(consumer.output()).not.toContain('skipped')
  })

  test('the consumer stops on SIGTERM, and its group continues after the printed events', async () => {
    const { log, topic } = await open()
    const before = Array.from({ length: 5 }, () => positionReported())
    await log.append(before)
    const first = start(topic)
    await until(first, () => printed(first).length === before.length)
    first.process.kill('SIGTERM')
    expect(await first.ended).toBe(0)
    expect(first.output()).not.toContain('skipped')

    const after = positionReported()
    await log.append([after])
    const second = start(topic)
    await until(second, () => printed(second).length > 0)
    expect(printed(second).map(({ recordId }) => recordId)).toEqual([after.recordId])
  })

  async function open(registry?: { url: string }) {
    const topicPrefix = `${services.kafka.topicPrefix}.${randomBytes(4).toString('hex')}`
    const options = { brokers, topicPrefix, ...(registry && { registry }) }
    const log = openKafkaEventLog(logOptions(options))
    closers.push(() => log.close())
    await whenReady(log)
    return { log, topic: `${topicPrefix}.position-reported` }
  }

  function start(topic: string, registry?: { url: string }): RunningProgram {
    const args = ['--brokers', brokers.join(','), '--topic', topic, '--group', `${topic}-example`]
    if (registry !== undefined) args.push('--registry', registry.url)
    const program = startProgram(PROGRAM, { args })
    closers.push(() => {
      program.process.kill('SIGTERM')
      return program.ended
    })
    return program
  }
})

/** The complete lines on standard output. */
function printed(
  { output }: RunningProgram,
  lines = /^\{"(recordId|eventId)".*\}$/,
): Record<string, unknown>[] {
  return output()
    .split('\n')
    .filter((line) => lines.test(line))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

/** Waits for a program's output; rejects if the program ends first. */
async function until({ process, output }: RunningProgram, check: () => boolean): Promise<void> {
  const outcome = await eventually(
    () => (check() ? 'printed' : process.exitCode !== null && 'ended'),
    { withinMs: 60_000 },
  )
  if (outcome === 'ended') throw new Error(`it ended by itself:\n${output()}`)
}
