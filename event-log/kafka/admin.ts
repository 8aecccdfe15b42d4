import { setTimeout as pause } from 'node:timers/promises'
import type { Admin } from 'kafkajs'
import { DependencyError } from '../../runtime/errors.ts'
import type { Outage } from '../../runtime/process/outage.ts'
import { kafkaFailure, type KafkaClient, type Logger } from './kafka-client.ts'

/** Admin requests: everything except reading and writing events. */
export type AdminClient = {
  /** @throws {DependencyError} retriable when Kafka does not respond within `withinMs`. */
  ask<T>(doing: string, question: (admin: Admin) => Promise<T>, withinMs?: number): Promise<T>
  close(): Promise<void>
}

const TRIES = 3
const PAUSE_MS = 200

/**
 * One connection for all requests. After a failure the next request uses a fresh connection with
 * fresh metadata: right after a topic is created, its leaders do not know it yet. `outage` learns
 * whether Kafka answers.
 */
export function adminClient(
  newClient: (options: { retries: number }) => KafkaClient,
  logger: Logger,
  outage?: Outage,
): AdminClient {
  let current: Connection | undefined
  let closed = false
  const dropping = new Map<Promise<void>, Connection>()

  return {
    async ask(doing, question, withinMs = 15_000) {
      if (closed) throw new DependencyError('the event log is closed', { retriable: true })
      let timer: NodeJS.Timeout | undefined
      let isLate = false
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => {
          isLate = true
          reject(new Error(`no response within ${withinMs} ms`))
        }, withinMs)
      })
      try {
        for (let tries = 1; ; tries += 1) {
          const used = (current ??= connect())
          try {
            const answer = await Promise.race([used.admin.then(question), late])
            outage?.answered()
            return answer
          } catch (error) {
            drop(used)
            if (closed) throw kafkaFailure(doing, error)
            if (!isLate && tries < TRIES) {
              await pause(PAUSE_MS)
              continue
            }
            const failure = kafkaFailure(doing, error)
            if (isLate || isUnreachable(error)) outage?.failed(failure, variableOf(error))
            else outage?.answered()
            throw outage?.mark(failure) ?? failure
          }
        }
      } finally {
        clearTimeout(timer)
      }
    },

    async close() {
      closed = true
      if (current !== undefined) drop(current)
      // A broker that says nothing would hold up each of them for as long as a request may take.
      for (const { client } of dropping.values()) client.cut()
      await Promise.all(dropping.keys())
    },
  }

  function connect(): Connection {
    const client = newClient({ retries: 1 })
    const admin = client.kafka.admin()
    return { client, admin: admin.connect().then(() => admin) }
  }

  function drop(connection: Connection): void {
    if (current === connection) current = undefined
    connection.client.abandon()
    const dropped = connection.admin
      .then((admin) => admin.disconnect())
      .catch((error: unknown) => {
        logger.debug({ err: error }, 'could not disconnect the Kafka admin client')
      })
      .finally(() => dropping.delete(dropped))
    dropping.set(dropped, connection)
  }
}

type Connection = { readonly client: KafkaClient; readonly admin: Promise<Admin> }

/** Names of kafkajs errors that mean that no broker responded, or that all rejected this client. */
const UNREACHABLE: ReadonlySet<unknown> = new Set([
  'KafkaJSConnectionError',
  'KafkaJSConnectionClosedError',
  'KafkaJSRequestTimeoutError',
  'KafkaJSBrokerNotFound',
  'KafkaJSSASLAuthenticationError',
])
const REFUSED = 'KafkaJSSASLAuthenticationError'

/** Whether Kafka did not respond, or rejected this client. */
function isUnreachable(error: unknown): boolean {
  return listCauses(error).some(({ name }) => UNREACHABLE.has(name))
}

/** The setting that an error points to, if it is not the address. */
function variableOf(error: unknown): { variable?: string } {
  const isRefused = listCauses(error).some(({ name }) => name === REFUSED)
  return isRefused ? { variable: 'KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD' } : {}
}

/** kafkajs wraps the error of the last try. */
function listCauses(error: unknown): Error[] {
  const chain: Error[] = []
  for (let one = error; one instanceof Error && !chain.includes(one); one = one.cause)
    chain.push(one)
  return chain
}
