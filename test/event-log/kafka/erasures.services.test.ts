import { expect, test } from '@jest/globals'
import { eventually } from '../../eventually.ts'
import { deviceErased, positionReported } from '../../samples.ts'
import { describeWith } from '../../services/describe-with.ts'
import { openLog, putRaw, readTopic, startReading } from './harness.ts'

const SOON = { withinMs: 30_000 }

await describeWith(['kafka'], 'erasures in Kafka', ({ kafka }) => {
  const { brokers } = kafka

  test('erasures are records without a value under the key of the device', async () => {
    const { log, topic } = await openLog(kafka)
    const erasure = deviceErased({ deviceId: 'Süd/7' })
    await log.erase(erasure)
    const [message] = await readTopic(brokers, topic, 1)
    expect(message!.key!.toString()).toBe('acc-1/Süd/7')
    expect(message!.value).toBeNull()
    expect(message!.timestamp).toBe(String(erasure.erasedAt))
    const headers = Object.entries(message!.headers ?? {}).map(([name, value]) => [
      name,
      String(value),
    ])
    expect(Object.fromEntries(headers)).toEqual({
      ce_specversion: '1.0',
      ce_id: erasure.eventId,
      ce_source: 'gps-position-ingestion',
      ce_type: 'DeviceErased.v1',
      ce_time: new Date(erasure.erasedAt).toISOString(),
    })
  })

  test('incomplete erasures are unreadable, and so is any other null value', async () => {
    const { log, topic, topicPrefix } = await openLog(kafka)
    const key = 'acc-1/tracker-1'
    const { eventId, erasedAt } = deviceErased()
    const marks = {
      ce_type: 'DeviceErased.v1',
      ce_id: eventId,
      ce_time: new Date(erasedAt).toISOString(),
    }
    const bad = [
      { key, headers: {} },
      { key, headers: { ce_type: marks.ce_type, ce_time: marks.ce_time } },
      { key, headers: { ...marks, ce_id: '1' } },
      { key, headers: { ...marks, ce_id: [eventId, eventId] } },
      { key, headers: { ce_type: marks.ce_type, ce_id: eventId } },
      { key, headers: { ...marks, ce_time: '5' } },
      { key, headers: { ...marks, ce_time: '2026-02-30T00:00:00.000Z' } },
      { key: null, headers: marks },
      { key: Buffer.from('acc-1/\xff', 'latin1'), headers: marks },
    ]
    for (const message of bad) await putRaw(brokers, topic, { ...message, value: null })
    // An event of an unknown type is not an error.
    const later = { ...marks, ce_type: 'DeviceErased.v2' }
    await putRaw(brokers, topic, { key, value: null, headers: later })
    await putRaw(brokers, topic, { key, value: null, headers: marks })
    await log.append([positionReported()])

    const reader = startReading(log)
    await eventually(() => reader.entries.length >= bad.length + 3, SOON)
    const unreadable = reader.entries.flatMap((one) => (one.kind === 'unreadable' ? [one] : []))
    expect(unreadable).toHaveLength(bad.length)
    expect(reader.entries).toContainEqual({
      kind: 'erasure',
      origin: expect.anything(),
      event: { eventId, accountId: 'acc-1', deviceId: 'tracker-1', erasedAt },
    })
    await log.deadLetters.append(unreadable)
    const letters = await readTopic(brokers, `${topicPrefix}.dead-letter`, bad.length)
    const hex = (bytes: Buffer | string | null) => bytes && Buffer.from(bytes).toString('hex')
    expect(letters.map((letter) => hex(letter.key)).sort()).toEqual(
      bad.map((message) => hex(message.key)).sort(),
    )
    expect(letters.every(({ value, headers }) => value === null && headers?.['error'])).toBe(true)
    await reader.stop()
  })
})
