import Joi from 'joi'
import { isOneEditAway } from '../../schemas/text/one-edit-away.ts'
import type { CorsOrigins } from '../http/cors.ts'
import type { RateLimit } from '../limits/rate-counters.ts'
import {
  CONSOLE_VARIABLES,
  consoleConfig,
  consoleFault,
  type ConsoleConfig,
  type ConsoleVariables,
} from './console-variables.ts'
import {
  OUTBOUND_VARIABLES,
  outboundConfig,
  type OutboundConfig,
  type OutboundVariables,
} from './outbound-variables.ts'
import { SERVICE_VARIABLES, type ServiceVariables } from './variables.ts'

const DAY_MS = 24 * 60 * 60 * 1_000

/** The configuration, read from the environment in this one place. */
export type Config = ConsoleConfig &
  OutboundConfig & {
    readonly host: string
    readonly ingestPort: number
    readonly adminPort: number
    readonly projectorPort?: number
    readonly delivererPort?: number
    /** If absent, every service serves its metrics on its usual port. */
    readonly metricsPort?: number
    readonly dataDir: string
    readonly distributed?: {
      readonly kafka: KafkaConfig
      readonly mongodbUrl: string
    }
    readonly firstOperator?: { readonly email: string; readonly password: string }
    readonly rateLimits: {
      /** Limit of requests per account and device. */
      readonly device: RateLimit | 'off'
      /** Limit of positions per API key. */
      readonly key: RateLimit | 'off'
      /** Limit of imported positions per API key. */
      readonly import: RateLimit | 'off'
      /** Limit of failed authentications per client address. */
      readonly auth: RateLimit | 'off'
      /** Limit of admin API calls per API key or session. */
      readonly admin: RateLimit | 'off'
      readonly store: 'memory' | 'mongodb'
    }
    /** The spool for reports while Kafka is unavailable, if configured. */
    readonly spool?: {
      readonly directory: string
      readonly maxBytes: number
      readonly maxAgeSeconds: number
    }
    /** How long reports must have been received before silences are judged. */
    readonly factsGraceSeconds: number
    /** How long events may wait in a spool, of this process or another. */
    readonly spoolMaxAgeSeconds: number
    /** Days; `off` removes a retention set in the store. */
    readonly retention?: number | 'off'
    /** Origins whose pages may call both APIs with a key, if any. */
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
  /** If absent, the brokers' default applies. */
  readonly replicationFactor?: number
  /** From RETENTION_DAYS; unlimited by default. */
  readonly retentionMs?: number
  /** If absent, events are written as JSON. */
  readonly registry?: { readonly url: string }
}

/**
 * The configuration is invalid; the message lists every invalid variable and the expected value.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/**
 * Reads the configuration from environment variables; `settings` override them.
 * @throws {ConfigError} listing all faults.
 */
export function loadConfig(
  env: Readonly<Record<string, string | undefined>> = process.env,
  settings: Readonly<Record<string, string>> = {},
): Config {
  const result = VARIABLES.validate(
    { ...env, ...settings },
    { abortEarly: false, stripUnknown: true, errors: { wrap: { array: false } } },
  )
  if (result.error !== undefined) {
    const faults = result.error.details.map(({ message }) => `  ${message}`)
    throw new ConfigError(
      ['The configuration cannot be used. Change these environment variables:', ...faults].join(
        '\n',
      ),
    )
  }
  return toConfig(result.value as Variables)
}

/**
 * The variables that are not read because their names are one letter from a known one:
 * `INGEST_PROT`.
 */
export function misspeltVariables(
  env: Readonly<Record<string, string | undefined>> = process.env,
): readonly { readonly variable: string; readonly meant: string }[] {
  const known = Object.keys(VARIABLES.describe()['keys'] as object)
  // Short names resemble too many variables of other programs.
  const long = known.filter((name) => name.includes('_'))
  return Object.keys(env).flatMap((variable) => {
    if (known.includes(variable)) return []
    const meant = long.find((name) => isOneEditAway(variable.toUpperCase(), name))
    return meant === undefined ? [] : [{ variable, meant }]
  })
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

type Variables = ServiceVariables & ConsoleVariables & OutboundVariables

const VARIABLES = Joi.object({ ...SERVICE_VARIABLES, ...CONSOLE_VARIABLES, ...OUTBOUND_VARIABLES })
  .and('KAFKA_BROKERS', 'MONGODB_URL')
  .and('ADMIN_EMAIL', 'ADMIN_PASSWORD')
  .and('SMTP_URL', 'SMTP_FROM')
  .custom((v: Variables, helpers) => {
    const fault = consoleFault(v)
    return fault === undefined ? v : helpers.error('console', { fault })
  })
  .messages({
    'object.and': 'set {{#missing}} too: {{#present}} does not work alone',
    console: '{{#fault}}',
  })

function toConfig(v: Variables): Config {
  return {
    host: v.HOST,
    ingestPort: v.INGEST_PORT,
    adminPort: v.ADMIN_PORT,
    ...(v.PROJECTOR_PORT !== undefined && { projectorPort: v.PROJECTOR_PORT }),
    ...(v.DELIVERER_PORT !== undefined && { delivererPort: v.DELIVERER_PORT }),
    ...(v.METRICS_PORT !== undefined && { metricsPort: v.METRICS_PORT }),
    dataDir: v.DATA_DIR,
    ...(v.KAFKA_BROKERS !== undefined &&
      v.MONGODB_URL !== undefined && {
        distributed: {
          kafka: kafkaConfig(v, v.KAFKA_BROKERS),
          mongodbUrl: v.MONGODB_URL,
        },
      }),
    ...(v.ADMIN_EMAIL !== undefined &&
      v.ADMIN_PASSWORD !== undefined && {
        firstOperator: { email: v.ADMIN_EMAIL, password: v.ADMIN_PASSWORD },
      }),
    rateLimits: {
      device: v.RATE_LIMIT_DEVICE,
      key: v.RATE_LIMIT_KEY,
      import: v.RATE_LIMIT_IMPORT,
      auth: v.RATE_LIMIT_AUTH,
      admin: v.RATE_LIMIT_ADMIN,
      store: v.RATE_LIMIT_STORE,
    },
    ...(v.SPOOL_DIR !== undefined && {
      spool: {
        directory: v.SPOOL_DIR,
        maxBytes: v.SPOOL_MAX_BYTES,
        maxAgeSeconds: v.SPOOL_MAX_AGE_SECONDS,
      },
    }),
    factsGraceSeconds: v.FACTS_GRACE_SECONDS,
    spoolMaxAgeSeconds: v.SPOOL_MAX_AGE_SECONDS,
    ...(v.RETENTION_DAYS !== undefined && { retention: v.RETENTION_DAYS }),
    ...(v.CORS_ORIGINS !== undefined && { corsOrigins: v.CORS_ORIGINS }),
    trustProxy: v.TRUST_PROXY,
    logLevel: v.LOG_LEVEL,
    shutdownDeadlineMs: v.SHUTDOWN_DEADLINE_MS,
    ...consoleConfig(v),
    ...outboundConfig(v),
  }
}

function kafkaConfig(v: Variables, brokers: string): KafkaConfig {
  return {
    brokers: brokers.split(','),
    ssl: v.KAFKA_SSL,
    ...(v.KAFKA_SASL_MECHANISM !== undefined && {
      sasl: {
        mechanism: v.KAFKA_SASL_MECHANISM,
        username: v.KAFKA_SASL_USERNAME ?? '',
        password: v.KAFKA_SASL_PASSWORD ?? '',
      },
    }),
    topicPrefix: v.KAFKA_TOPIC_PREFIX,
    ...(v.KAFKA_REPLICATION_FACTOR !== undefined && {
      replicationFactor: v.KAFKA_REPLICATION_FACTOR,
    }),
    ...(typeof v.RETENTION_DAYS === 'number' && { retentionMs: v.RETENTION_DAYS * DAY_MS }),
    ...(v.SCHEMA_REGISTRY_URL !== undefined && { registry: { url: v.SCHEMA_REGISTRY_URL } }),
  }
}

/**
 * API keys of the commands that send reports, from the environment; their options override these.
 */
export type SenderKeys = {
  readonly key?: string | undefined
  /** The key for reading reports back; by default `key`. */
  readonly readKey?: string | undefined
}

export function senderKeys(
  env: Readonly<Record<string, string | undefined>> = process.env,
): SenderKeys {
  return { key: env['GPS_KEY'], readKey: env['GPS_READ_KEY'] }
}
