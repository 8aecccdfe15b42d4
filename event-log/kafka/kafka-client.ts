import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import {
  Kafka,
  logLevel,
  type KafkaConfig,
  type logCreator,
  type RetryOptions,
  type SASLOptions,
} from 'kafkajs'
import { DependencyError } from '../../runtime/errors.ts'

/** The part of a pino logger that the Kafka adapter uses. */
export type Logger = {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export type KafkaConnectionOptions = {
  /** `host:port` each. */
  readonly brokers: readonly string[]
  readonly ssl?: boolean
  readonly sasl?: {
    readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'
    readonly username: string
    readonly password: string
  }
  readonly clientId: string
  readonly logger: Logger
}

/** A kafkajs client whose retries can be ended. */
export type KafkaClient = {
  readonly kafka: Kafka
  /**
   * Opens no more connections, which ends every retry: kafkajs itself cannot stop retrying a send
   * or connect.
   */
  abandon(): void
  /** Like `abandon`, and also fails pending requests: nothing more is sent. */
  cut(): void
}

/** Keeps pauses well below the promised recovery time; the default grows to 30 s. */
export const RETRY = { initialRetryTime: 100, maxRetryTime: 2000 } as const satisfies RetryOptions

const CONNECTION_TIMEOUT_MS = 5000
const REQUEST_TIMEOUT_MS = 10_000
const KEEP_ALIVE_MS = 60_000

/** A separate client for each role, so that a blocked one does not affect the others. */
export function kafkaClient(
  { brokers, ssl = false, sasl, clientId, logger }: KafkaConnectionOptions,
  { retries }: { retries: number },
): KafkaClient {
  let abandoned = false
  const sockets = new Set<Socket>()
  const config: KafkaConfig = {
    // Only an empty list ends the retries: kafkajs retries when a socket cannot be created.
    brokers: () => (abandoned ? [] : [...brokers]),
    ssl,
    clientId,
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    retry: { ...RETRY, retries },
    logLevel: logLevel.WARN,
    logCreator: logTo(logger),
    socketFactory({ host, port, ssl, onConnect }) {
      // kafkajs retries unless the error says otherwise.
      if (abandoned) throw Object.assign(new Error('the event log is closed'), { retriable: false })
      const servername = isIP(host) === 0 ? { servername: host } : {}
      // kafkajs passes a falsy `ssl` for plain TCP, despite its type.
      const socket: Socket = (ssl as unknown)
        ? connectTls({ host, port, ...servername, ...ssl }, onConnect)
        : connectTcp({ host, port }, onConnect)
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
      // kafkajs disconnects a connecting socket once for each request that waits for it.
      return socket.setKeepAlive(true, KEEP_ALIVE_MS).setNoDelay(true).setMaxListeners(0)
    },
  }
  // kafkajs types each mechanism separately, without a union.
  if (sasl !== undefined) config.sasl = sasl as SASLOptions
  return {
    kafka: new Kafka(config),
    abandon() {
      abandoned = true
    },
    cut() {
      abandoned = true
      for (const socket of sockets) socket.destroy(new Error('given up'))
    },
  }
}

/** Wraps a kafkajs error, once. After any Kafka failure a retry may succeed. */
export function kafkaFailure(doing: string, cause: unknown): DependencyError {
  if (cause instanceof DependencyError) return cause
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new DependencyError(`Kafka could not ${doing}: ${reason}`, { retriable: true, cause })
}

/** The error of a call that may succeed if retried. */
export function unavailableError(message: string): DependencyError {
  return new DependencyError(message, { retriable: true })
}

/** kafkajs logs every failed attempt as an error; while it retries, a warning is enough. */
function logTo(logger: Logger): logCreator {
  return () =>
    ({ namespace, log }) => {
      const { message, broker, groupId, topic, partition, retryCount } = log as Record<
        string,
        unknown
      >
      logger.warn(
        { namespace, reason: message, broker, groupId, topic, partition, retryCount },
        'kafka client reported a problem',
      )
    }
}
