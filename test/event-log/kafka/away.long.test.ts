import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from '@jest/globals'
import type { EventLog } from '../../../event-log/event-log.ts'
import { openKafkaEventLog } from '../../../event-log/kafka/kafka-event-log.ts'
import { DependencyError } from '../../../runtime/errors.ts'
import { eventually } from '../../eventually.ts'
import { positionReported } from '../../samples.ts'
import { freePort } from '../../services/own-server.ts'
import { logOptions } from './harness.ts'

describe('deadlines of logs whose Kafka is unavailable', () => {
  let log: EventLog | undefined
  let silent: { server: Server; sockets: Set<Socket> } | undefined

  afterEach(async () => {
    await log?.close()
    for (const socket of silent?.sockets ?? []) socket.destroy()
    silent?.server.close()
    silent = undefined
  })

  function open(port: number): EventLog {
    const brokers = [`127.0.0.1:${port}`]
    log = openKafkaEventLog(logOptions({ brokers, topicPrefix: 'gps' }))
    return log
  }

  test('a log whose Kafka is unavailable opens; ready reports that, and closing does not wait', async () => {
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

  test('a log whose Kafka is unavailable rejects appends within 6 s, even if Kafka accepts connections and never responds', async () => {
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

  async function blackHole(): Promise<number> {
    const sockets = new Set<Socket>()
    const server = createServer((socket) => sockets.add(socket.on('error', () => undefined)))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    silent = { server, sockets }
    return (server.address() as AddressInfo).port
  }
})
