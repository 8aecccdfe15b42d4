import { afterEach, expect, test } from '@jest/globals'
import type { EventLog } from '../../../event-log/event-log.ts'
import { openKafkaEventLog } from '../../../event-log/kafka/kafka-event-log.ts'
import { positionReported } from '../../samples.ts'
import { freePort } from '../../services/own-server.ts'
import { logOptions } from './harness.ts'

let log: EventLog | undefined
afterEach(() => log?.close())

test('a log whose Kafka is unavailable holds at most 10 000 events in memory, and rejects the rest immediately', async () => {
  const brokers = [`127.0.0.1:${await freePort()}`]
  const opened = openKafkaEventLog(
    logOptions({ brokers, topicPrefix: 'gps', writtenWithinMs: 500 }),
  )
  log = opened
  const first = opened.append([positionReported()]).catch((error: Error) => error)
  await new Promise(setImmediate)
  const event = positionReported()
  let overloaded = 0
  const appends = Array.from({ length: 10_100 }, () =>
    opened.append([event]).catch(({ message }: Error) => {
      // Not the held ones: on a busy machine they may have passed their deadline by now.
      if (message === 'the event log is overloaded') overloaded += 1
      return message
    }),
  )
  await new Promise(setImmediate)
  expect(overloaded).toBe(101)
  await Promise.all([first, ...appends])
  expect(overloaded).toBe(101)
})
