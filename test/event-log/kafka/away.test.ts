import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from '@jest/globals'
import type { EventLog } from '../../../event-log/event-log.ts'
import {
  openKafkaEventLog,
  type KafkaEventLogOptions,
} from '../../../event-log/kafka/kafka-event-log.ts'
import { DependencyError } from '../../../runtime/errors.ts'
import { eventually } from '../../eventually.ts'
import { positionReported } from '../../samples.ts'
import { freePort } from '../../services/own-server.ts'
import { logOptions } from './harness.ts'

describe('logs whose Kafka is away', () => {
  let log: EventLog | undefined
  let silent: { server: Server; sockets: Set<Socket> } | undefined

  afterEach(async () => {
    await log?.close()
    for (const socket of silent?.sockets ?? []) socket.destroy()
    silent?.server.close()
    silent = undefined
  })

  function open(port: number, changes: Partial<KafkaEventLogOptions> = {}): EventLog {
    const brokers = [`127.0.0.1:${port}`]
    log = openKafkaEventLog(logOptions({ brokers, topicPrefix: 'gps', ...changes }))
    return log
  }

  test('a log whose Kafka is away opens; ready says so, and closing does not wait', async () => {
    const opened = open(await freePort())
    await eventually(async () => {
      const failure = await opened.ready().catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(DependencyError)
      return (failure as Error).message.includes('Kafka could not prepare its topics')
    })
    const begin = performance.now()
    await opened.close()
    expect(performance.now() - begin).toBeLessThan(2000)
  })

  test('a log whose Kafka is away refuses appends within 6 s, also where it takes connections and never answers', async () => {
    const opened = open(await blackHole())
    const begin = performance.now()
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, () => opened.append([positionReported()])),
    )
    expect(performance.now() - begin).toBeLessThan(6000)
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({
        status: 'rejected',
        reason: { name: 'DependencyError', retriable: true },
      })
    }
  })

  test('a log whose Kafka is away holds no more than 10 000 events in memory, and refuses the rest at once', async () => {
    const opened = open(await freePort(), { writtenWithinMs: 500 })
    const first = opened.append([positionReported()]).catch((error: Error) => error)
    await new Promise(setImmediate)
    const event = positionReported()
    let overloaded = 0
    const appends = Array.from({ length: 10_100 }, () =>
      opened.append([event]).catch(({ message }: Error) => {
        // Not those that were held: on a busy machine they may have met their deadline by now.
        if (message === 'the event log is overloaded') overloaded += 1
        return message
      }),
    )
    await new Promise(setImmediate)
    expect(overloaded).toBe(101)
    await Promise.all([first, ...appends])
    expect(overloaded).toBe(101)
  })

  async function blackHole(): Promise<number> {
    const sockets = new Set<Socket>()
    const server = createServer((socket) => sockets.add(socket.on('error', () => undefined)))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    silent = { server, sockets }
    return (server.address() as AddressInfo).port
  }
})
