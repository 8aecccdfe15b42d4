import type { CorsOrigins } from '../cors.ts'
import type { RateLimit } from '../rate-counters.ts'
import type { ConsoleConfig } from './console-variables.ts'

/** The configuration, read from the environment in this one place. */
export type Config = ConsoleConfig & {
  readonly host: string
  readonly ingestPort: number
  readonly adminPort: number
  readonly projectorPort?: number
  /** Absent: every service serves the metrics on its own port. */
  readonly metricsPort?: number
  readonly dataDir: string
  readonly distributed?: {
    readonly kafka: KafkaConfig
    readonly mongodbUrl: string
  }
  readonly firstOperator?: { readonly email: string; readonly password: string }
  readonly rateLimits: {
    /** Per account and device, requests. */
    readonly device: RateLimit | 'off'
    /** Per API key, positions. */
    readonly key: RateLimit | 'off'
    /** Per API key, imported positions. */
    readonly import: RateLimit | 'off'
    /** Per client address, failed authentications. */
    readonly auth: RateLimit | 'off'
    /** Per API key or session, calls of the admin API. */
    readonly admin: RateLimit | 'off'
    readonly store: 'memory' | 'mongodb'
  }
  /** The spool for reports while Kafka is unavailable; absent: none. */
  readonly spool?: {
    readonly directory: string
    readonly maxBytes: number
    readonly maxAgeSeconds: number
  }
  /** Days; `off` removes a retention that the store has. */
  readonly retention?: number | 'off'
  /** The origins whose pages may call both APIs with a key; absent: none. */
  readonly corsOrigins?: CorsOrigins
  /** The number of proxies in front. */
  readonly trustProxy: number
  readonly logLevel: string
  readonly shutdownDeadlineMs: number
}

export type KafkaConfig = {
  readonly brokers: readonly string[]
  readonly ssl: boolean
  readonly sasl?: {
    readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'
    readonly username: string
    readonly password: string
  }
  readonly topicPrefix: string
  /** Absent: the brokers' own default. */
  readonly replicationFactor?: number
  /** From RETENTION_DAYS; absent: unlimited. */
  readonly retentionMs?: number
  /** Absent: events are written as JSON. */
  readonly registry?: { readonly url: string }
}

/** The configuration is invalid; the message lists every invalid variable and the expected value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/**
 * The Kafka and MongoDB settings, for programs that need them.
 * @throws {ConfigError} naming what to set if they are missing.
 */
export function requireDistributed({ distributed }: Config): NonNullable<Config['distributed']> {
  if (distributed !== undefined) return distributed
  throw new ConfigError(
    'this program needs Kafka and MongoDB: set KAFKA_BROKERS and MONGODB_URL, ' +
      'or run everything in one process with: npm start',
  )
}
