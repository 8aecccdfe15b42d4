import { expect, test } from '@jest/globals'
import { ConfigError, loadConfig, requireDistributed } from '../../../runtime/config/config.ts'

/** The message of a start with a bad value. */
const MESSAGES: readonly (readonly [message: string, variable: string, value: string])[] = [
  ['HOST must be a host name or address, not "a b"', 'HOST', 'a b'],
  [
    'INGEST_PORT must be a port from 0 to 65535 (0 picks a free one), not "99999"',
    'INGEST_PORT',
    '99999',
  ],
  [
    'KAFKA_BROKERS must be host:port, several separated by commas, not "kafka"',
    'KAFKA_BROKERS',
    'kafka',
  ],
  [
    'MONGODB_URL must be a URL that starts with mongodb:// or mongodb+srv://',
    'MONGODB_URL',
    'http://x',
  ],
  ['SCHEMA_REGISTRY_URL must be an http:// or https:// URL', 'SCHEMA_REGISTRY_URL', 'x'],
  ['KAFKA_SSL must be true or false, not "yes"', 'KAFKA_SSL', 'yes'],
  [
    'KAFKA_SASL_MECHANISM must be plain, scram-sha-256 or scram-sha-512, not "md5"',
    'KAFKA_SASL_MECHANISM',
    'md5',
  ],
  [
    'KAFKA_SASL_USERNAME must be a user name, because KAFKA_SASL_MECHANISM is set',
    'KAFKA_SASL_MECHANISM',
    'md5',
  ],
  [
    'KAFKA_SASL_PASSWORD must be a password, because KAFKA_SASL_MECHANISM is set',
    'KAFKA_SASL_MECHANISM',
    'md5',
  ],
  [
    'KAFKA_TOPIC_PREFIX must be letters, digits, ".", "_" and "-", not "a b"',
    'KAFKA_TOPIC_PREFIX',
    'a b',
  ],
  [
    'KAFKA_REPLICATION_FACTOR must be a whole number, 1 or more, not "0"',
    'KAFKA_REPLICATION_FACTOR',
    '0',
  ],
  ['ADMIN_EMAIL must be an e-mail address, not "x"', 'ADMIN_EMAIL', 'x'],
  ['ADMIN_PASSWORD must be a password of at least 12 characters', 'ADMIN_PASSWORD', 'short'],
  [
    'RATE_LIMIT_DEVICE must be points/seconds, for example 300/60, or off, not "5"',
    'RATE_LIMIT_DEVICE',
    '5',
  ],
  [
    'RATE_LIMIT_STORE must be memory, or mongodb where MONGODB_URL is set, not "disk"',
    'RATE_LIMIT_STORE',
    'disk',
  ],
  ['SPOOL_MAX_BYTES must be bytes, 1 or more, not "0"', 'SPOOL_MAX_BYTES', '0'],
  ['FACTS_GRACE_SECONDS must be seconds, 0 or more, not "-1"', 'FACTS_GRACE_SECONDS', '-1'],
  ['SPOOL_MAX_AGE_SECONDS must be seconds, 1 or more, not "0"', 'SPOOL_MAX_AGE_SECONDS', '0'],
  [
    'RETENTION_DAYS must be a whole number of days, 1 to 3650, or off, not "0"',
    'RETENTION_DAYS',
    '0',
  ],
  [
    'CONSOLE_PUBLIC_URL must be the http:// or https:// URL at which browsers reach the console, without a user name, ? and #, and with a host other than 0.0.0.0, for example https://gps.example.com, not "x"',
    'CONSOLE_PUBLIC_URL',
    'x',
  ],
  [
    'INGEST_PUBLIC_URL must be the http:// or https:// URL at which devices reach the ingest API, without a user name, ? and #, and with a host other than 0.0.0.0, for example https://gps.example.com, not "http://0.0.0.0"',
    'INGEST_PUBLIC_URL',
    'http://0.0.0.0',
  ],
  [
    'INGEST_INTERNAL_URL must be the http:// or https:// URL at which the admin API reaches the ingest API, without a user name, ? and #, and with a host other than 0.0.0.0, for example https://gps.example.com, not "x"',
    'INGEST_INTERNAL_URL',
    'x',
  ],
  ['MAP_STREETS must be osm or off, not "x"', 'MAP_STREETS', 'x'],
  [
    'MAP_TILE_URL must be an http:// or https:// URL with {z}, {x} and {y} after its host and no other placeholder, or several, separated by blanks, each also as Name=URL, for example https://tile.example.com/{z}/{x}/{y}.png, not "x"',
    'MAP_TILE_URL',
    'x',
  ],
  [
    'MAP_PMTILES must be a PMTiles file on this machine, or its http:// or https:// URL, or several, separated by blanks, each also as Name=URL; %20 is a blank in a name or a path, not "ftp://x"',
    'MAP_PMTILES',
    'ftp://x',
  ],
  [
    'MAP_ATTRIBUTION must be a plain text of at most 500 characters without < and >, for example © OpenStreetMap contributors, not "<b>"',
    'MAP_ATTRIBUTION',
    '<b>',
  ],
  ['MAP_MAX_ZOOM must be a whole number from 0 to 24, not "99"', 'MAP_MAX_ZOOM', '99'],
  [
    'CORS_ORIGINS must be origins in lower case without a slash at the end, separated by blanks, for example https://map.example.org http://localhost:5173, or *, not "x"',
    'CORS_ORIGINS',
    'x',
  ],
  ['TRUST_PROXY must be the number of proxies in front, 0 to 10, not "11"', 'TRUST_PROXY', '11'],
  [
    'LOG_LEVEL must be fatal, error, warn, info, debug, trace or silent, not "loud"',
    'LOG_LEVEL',
    'loud',
  ],
  [
    'SHUTDOWN_DEADLINE_MS must be milliseconds, 100 to 600000, not "1"',
    'SHUTDOWN_DEADLINE_MS',
    '1',
  ],
]

test.each(MESSAGES)('a start says: %s', (message, variable, value) => {
  const start = () => loadConfig({ [variable]: value })
  expect(start).toThrow(ConfigError)
  expect(start).toThrow('The configuration cannot be used. Change these environment variables:')
  expect(start).toThrow(`\n  ${message}`)
})

test.each([
  ['MONGODB_URL', { KAFKA_BROKERS: 'kafka:9092' }],
  ['KAFKA_BROKERS', { MONGODB_URL: 'mongodb://mongodb' }],
  ['ADMIN_PASSWORD', { ADMIN_EMAIL: 'ops@example.org' }],
])('a start says that %s lacks', (lacking, env) => {
  const [set] = Object.keys(env)
  expect(() => loadConfig(env)).toThrow(`set ${lacking} too: ${set} does not work alone`)
})

test('a service that needs Kafka and MongoDB says so, and names npm start', () => {
  expect(() => requireDistributed(loadConfig({}))).toThrow(
    'this program needs Kafka and MongoDB: set KAFKA_BROKERS and MONGODB_URL, or run everything in one process with: npm start',
  )
})
