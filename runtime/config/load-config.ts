import { ConfigError, type Config, type KafkaConfig } from './config.ts'
import { consoleConfig } from './console-variables.ts'
import { variables, type Variables } from './variables.ts'

const DAY_MS = 24 * 60 * 60 * 1_000

/** Reads the configuration from environment variables. @throws {ConfigError} listing all faults. */
export function loadConfig(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Config {
  const result = variables.validate(env, { abortEarly: false, stripUnknown: true })
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

function toConfig(v: Variables): Config {
  return {
    host: v.HOST,
    ingestPort: v.INGEST_PORT,
    adminPort: v.ADMIN_PORT,
    ...(v.PROJECTOR_PORT !== undefined && { projectorPort: v.PROJECTOR_PORT }),
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
    ...(v.RETENTION_DAYS !== undefined && { retention: v.RETENTION_DAYS }),
    ...(v.CORS_ORIGINS !== undefined && { corsOrigins: v.CORS_ORIGINS }),
    trustProxy: v.TRUST_PROXY,
    logLevel: v.LOG_LEVEL,
    shutdownDeadlineMs: v.SHUTDOWN_DEADLINE_MS,
    ...consoleConfig(v),
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
