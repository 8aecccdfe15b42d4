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

/** As much of a pino logger as the Kafka adapter writes to. */
export type Logger = {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export type ConnectionOptions = {
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

/** A kafkajs client and the means to make it give up. */
export type KafkaClient = {
  readonly kafka: Kafka
  /**
   * From now on no connection is opened, which ends every retry: kafkajs itself can stop neither a
   * send nor a connect that it repeats.
   */
  abandon(): void
  /** As `abandon`, and what is under way ends with an error: nothing more is sent. */
  cut(): void
}

/** Pauses that stay shorter than the promised recovery; the default grows to 30 s. */
export const RETRY = { initialRetryTime: 100, maxRetryTime: 2000 } as const satisfies RetryOptions

const CONNECTION_TIMEOUT_MS = 5000
const REQUEST_TIMEOUT_MS = 10_000
const KEEP_ALIVE_MS = 60_000

/** A client of its own for each role, so that one that waits or is given up holds up no other. */
export function kafkaClient(
  { brokers, ssl = false, sasl, clientId, logger }: ConnectionOptions,
  { retries }: { retries: number },
): KafkaClient {
  let abandoned = false
  const sockets = new Set<Socket>()
  const config: KafkaConfig = {
    // An empty list is what ends its retries: it takes a socket that cannot be made for a failure.
    brokers: () => (abandoned ? [] : [...brokers]),
    ssl,
    clientId,
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    retry: { ...RETRY, retries },
    logLevel: logLevel.WARN,
    logCreator: logTo(logger),
    socketFactory({ host, port, ssl, onConnect }) {
      // kafkajs takes an error for final only when it says so.
      if (abandoned) throw Object.assign(new Error('the event log is closed'), { retriable: false })
      const servername = isIP(host) === 0 ? { servername: host } : {}
      // kafkajs gives an `ssl` that is falsy for plain TCP, whatever its type says.
      const socket: Socket = (ssl as unknown)
        ? connectTls({ host, port, ...servername, ...ssl }, onConnect)
        : connectTcp({ host, port }, onConnect)
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
      // kafkajs disconnects a socket that still connects once for each request that waits for it.
      return socket.setKeepAlive(true, KEEP_ALIVE_MS).setNoDelay(true).setMaxListeners(0)
    },
  }
  // Its type has one member for each mechanism, and no union of them.
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

/** Wraps what kafkajs reports, once. Nothing in Kafka's own failures says that a retry is in vain. */
export function kafkaFailure(doing: string, cause: unknown): DependencyError {
  if (cause instanceof DependencyError) return cause
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new DependencyError(`Kafka could not ${doing}: ${reason}`, { retriable: true, cause })
}

/** kafkajs calls every failed try an error; here it is one only when nobody tries again. */
function logTo(logger: Logger): logCreator {
  return () =>
    ({ namespace, log }) => {
      const { message, broker, groupId, topic, partition, retryCount } = log as Record<
        string,
        unknown
      >
      logger.warn(
        { namespace, reason: message, broker, groupId, topic, partition, retryCount },
        'kafka client has trouble',
      )
    }
}
