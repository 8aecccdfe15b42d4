import Joi from 'joi'
import type { CorsOrigins } from '../http/cors.ts'
import type { RateLimit } from '../limits/rate-counters.ts'

/** The environment variables of the services, as read. */
export type ServiceVariables = {
  HOST: string
  INGEST_PORT: number
  ADMIN_PORT: number
  PROJECTOR_PORT?: number
  DELIVERER_PORT?: number
  METRICS_PORT?: number
  DATA_DIR: string
  KAFKA_BROKERS?: string
  MONGODB_URL?: string
  SCHEMA_REGISTRY_URL?: string
  KAFKA_SSL: boolean
  KAFKA_SASL_MECHANISM?: 'plain' | 'scram-sha-256' | 'scram-sha-512'
  KAFKA_SASL_USERNAME?: string
  KAFKA_SASL_PASSWORD?: string
  KAFKA_TOPIC_PREFIX: string
  KAFKA_REPLICATION_FACTOR?: number
  ADMIN_EMAIL?: string
  ADMIN_PASSWORD?: string
  RATE_LIMIT_DEVICE: RateLimit | 'off'
  RATE_LIMIT_KEY: RateLimit | 'off'
  RATE_LIMIT_IMPORT: RateLimit | 'off'
  RATE_LIMIT_AUTH: RateLimit | 'off'
  RATE_LIMIT_ADMIN: RateLimit | 'off'
  RATE_LIMIT_STORE: 'memory' | 'mongodb'
  SPOOL_DIR?: string
  SPOOL_MAX_BYTES: number
  SPOOL_MAX_AGE_SECONDS: number
  FACTS_GRACE_SECONDS: number
  RETENTION_DAYS?: number | 'off'
  CORS_ORIGINS?: CorsOrigins
  TRUST_PROXY: number
  LOG_LEVEL: string
  SHUTDOWN_DEADLINE_MS: number
}

const port = (name: string) =>
  variable(name, Joi.number().integer().min(0).max(65_535), {
    expected: 'a port from 0 to 65535 (0 picks a free one)',
  })

const limit = (name: string) =>
  variable(
    name,
    Joi.string().custom(
      (text: string, helpers) => parseLimit(text) ?? helpers.error('any.invalid'),
    ),
    { expected: 'points/seconds, for example 300/60, or off' },
  )

/** The valid values of each variable, and its default. */
export const SERVICE_VARIABLES = {
  HOST: variable('HOST', Joi.string().hostname(), { expected: 'a host name or address' }).default(
    '127.0.0.1',
  ),
  INGEST_PORT: port('INGEST_PORT').default(8080),
  ADMIN_PORT: port('ADMIN_PORT').default(8081),
  PROJECTOR_PORT: port('PROJECTOR_PORT'),
  DELIVERER_PORT: port('DELIVERER_PORT'),
  METRICS_PORT: port('METRICS_PORT'),
  DATA_DIR: variable('DATA_DIR', Joi.string(), { expected: 'a folder' }).default('./data'),
  KAFKA_BROKERS: variable('KAFKA_BROKERS', Joi.string().pattern(/^[^\s,:]+:\d+(,[^\s,:]+:\d+)*$/), {
    expected: 'host:port, several separated by commas',
  }),
  MONGODB_URL: variable('MONGODB_URL', Joi.string().pattern(/^mongodb(\+srv)?:\/\/\S+$/), {
    expected: 'a URL that starts with mongodb:// or mongodb+srv://',
    secret: true,
  }),
  SCHEMA_REGISTRY_URL: variable(
    'SCHEMA_REGISTRY_URL',
    Joi.string().uri({ scheme: ['http', 'https'] }),
    {
      expected: 'an http:// or https:// URL',
      secret: true,
    },
  ),
  KAFKA_SSL: variable('KAFKA_SSL', Joi.boolean(), { expected: 'true or false' }).default(false),
  KAFKA_SASL_MECHANISM: variable(
    'KAFKA_SASL_MECHANISM',
    Joi.string().lowercase().valid('plain', 'scram-sha-256', 'scram-sha-512'),
    { expected: 'plain, scram-sha-256 or scram-sha-512' },
  ),
  KAFKA_SASL_USERNAME: variable('KAFKA_SASL_USERNAME', Joi.string(), {
    expected: 'a user name, because KAFKA_SASL_MECHANISM is set',
  }).when('KAFKA_SASL_MECHANISM', { is: Joi.exist(), then: Joi.required() }),
  KAFKA_SASL_PASSWORD: variable('KAFKA_SASL_PASSWORD', Joi.string(), {
    expected: 'a password, because KAFKA_SASL_MECHANISM is set',
    secret: true,
  }).when('KAFKA_SASL_MECHANISM', { is: Joi.exist(), then: Joi.required() }),
  KAFKA_TOPIC_PREFIX: variable(
    'KAFKA_TOPIC_PREFIX',
    Joi.string().pattern(/^[A-Za-z0-9._-]{1,200}$/),
    {
      expected: 'letters, digits, ".", "_" and "-"',
    },
  ).default('gps'),
  KAFKA_REPLICATION_FACTOR: variable(
    'KAFKA_REPLICATION_FACTOR',
    Joi.number().integer().min(1).max(32_767),
    { expected: 'a whole number, 1 or more' },
  ),
  ADMIN_EMAIL: variable('ADMIN_EMAIL', Joi.string().email({ tlds: false, minDomainSegments: 1 }), {
    expected: 'an e-mail address',
  }),
  ADMIN_PASSWORD: variable('ADMIN_PASSWORD', Joi.string().min(12).max(1024), {
    expected: 'a password of at least 12 characters',
    secret: true,
  }),
  RATE_LIMIT_DEVICE: limit('RATE_LIMIT_DEVICE').default({ points: 300, seconds: 60 }),
  RATE_LIMIT_KEY: limit('RATE_LIMIT_KEY').default({ points: 60_000, seconds: 60 }),
  RATE_LIMIT_IMPORT: limit('RATE_LIMIT_IMPORT').default({ points: 600_000, seconds: 60 }),
  RATE_LIMIT_AUTH: limit('RATE_LIMIT_AUTH').default({ points: 30, seconds: 60 }),
  RATE_LIMIT_ADMIN: limit('RATE_LIMIT_ADMIN').default({ points: 1200, seconds: 60 }),
  RATE_LIMIT_STORE: variable(
    'RATE_LIMIT_STORE',
    Joi.string().when('MONGODB_URL', {
      is: Joi.exist(),
      then: Joi.valid('memory', 'mongodb'),
      otherwise: Joi.valid('memory'),
    }),
    { expected: 'memory, or mongodb where MONGODB_URL is set' },
  ).default('memory'),
  SPOOL_DIR: variable('SPOOL_DIR', Joi.string(), { expected: 'a folder' }),
  SPOOL_MAX_BYTES: variable('SPOOL_MAX_BYTES', Joi.number().integer().min(1), {
    expected: 'bytes, 1 or more',
  }).default(2 ** 30),
  SPOOL_MAX_AGE_SECONDS: variable('SPOOL_MAX_AGE_SECONDS', Joi.number().integer().min(1), {
    expected: 'seconds, 1 or more',
  }).default(86_400),
  FACTS_GRACE_SECONDS: variable('FACTS_GRACE_SECONDS', Joi.number().integer().min(0), {
    expected: 'seconds, 0 or more',
  }).default(600),
  RETENTION_DAYS: variable(
    'RETENTION_DAYS',
    Joi.number().integer().min(1).max(3_650).allow('off'),
    {
      expected: 'a whole number of days, 1 to 3650, or off',
    },
  ),
  CORS_ORIGINS: variable(
    'CORS_ORIGINS',
    Joi.string().custom(
      (text: string, helpers) => parseOrigins(text) ?? helpers.error('any.invalid'),
    ),
    {
      expected:
        'origins in lower case without a slash at the end, separated by blanks, for example https://map.example.org http://localhost:5173, or *',
    },
  ),
  TRUST_PROXY: variable('TRUST_PROXY', Joi.number().integer().min(0).max(10), {
    expected: 'the number of proxies in front, 0 to 10',
  }).default(0),
  LOG_LEVEL: variable(
    'LOG_LEVEL',
    Joi.string().valid('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    { expected: 'fatal, error, warn, info, debug, trace or silent' },
  ).default('info'),
  SHUTDOWN_DEADLINE_MS: variable(
    'SHUTDOWN_DEADLINE_MS',
    Joi.number().integer().min(100).max(600_000),
    { expected: 'milliseconds, 100 to 600000' },
  ).default(10_000),
}

/** An empty variable counts as unset. Messages never contain the value of a secret. */
export function variable<S extends Joi.Schema>(
  name: string,
  schema: S,
  { expected, secret = false }: { expected: string; secret?: boolean },
): S {
  const got = secret ? '' : ', not "{{#value}}"'
  // Braces in a message are Joi's own placeholders unless escaped.
  const escaped = expected.replace(/[{}]/g, String.raw`\$&`)
  return schema.empty('').messages({
    '*': `${name} must be ${escaped}${got}`,
    'any.required': `${name} must be ${escaped}`,
  }) as S
}

function parseLimit(text: string): RateLimit | 'off' | undefined {
  if (text === 'off') return 'off'
  const match = /^([1-9]\d{0,8})\/([1-9]\d{0,5})$/.exec(text)
  return match === null ? undefined : { points: Number(match[1]), seconds: Number(match[2]) }
}

function parseOrigins(text: string): CorsOrigins | undefined {
  if (text === '*') return text
  const origins = text.trim().split(/\s+/)
  return origins.every(isOrigin) ? origins : undefined
}

/** Whether the text is an origin exactly as browsers send it. */
function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text
}
