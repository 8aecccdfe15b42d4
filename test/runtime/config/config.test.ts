import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { ConfigError, loadConfig, misspeltVariables } from '../../../runtime/config/config.ts'

function faults(env: Record<string, string>): string {
  try {
    loadConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  return ''
}

const OSM = expect.objectContaining({
  name: 'Streets (OpenStreetMap)',
  seenBy: 'OpenStreetMap',
}) as object

describe('the configuration', () => {
  test('the configuration needs no variable', () => {
    expect(loadConfig({})).toEqual({
      host: '127.0.0.1',
      ingestPort: 8080,
      adminPort: 8081,
      dataDir: './data',
      rateLimits: {
        device: { points: 300, seconds: 60 },
        key: { points: 60_000, seconds: 60 },
        import: { points: 600_000, seconds: 60 },
        auth: { points: 30, seconds: 60 },
        admin: { points: 1200, seconds: 60 },
        store: 'memory',
      },
      trustProxy: 0,
      logLevel: 'info',
      maps: [OSM],
      shutdownDeadlineMs: 10_000,
      factsGraceSeconds: 600,
      webhooks: { allowNetworks: [] },
      spoolMaxAgeSeconds: 86_400,
    })
  })

  test('the configuration takes every variable', () => {
    const config = loadConfig({
      HOST: '0.0.0.0',
      INGEST_PORT: '0',
      ADMIN_PORT: '9001',
      PROJECTOR_PORT: '9002',
      DATA_DIR: '/var/lib/gps',
      KAFKA_BROKERS: 'a:9092,b:9093',
      MONGODB_URL: 'mongodb://user:secret@m1:27017,m2:27017/gps',
      SCHEMA_REGISTRY_URL: 'http://registry:8081/apis/ccompat/v7',
      KAFKA_SSL: 'true',
      KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512',
      KAFKA_SASL_USERNAME: 'gps',
      KAFKA_SASL_PASSWORD: 'pw',
      KAFKA_TOPIC_PREFIX: 'fleet',
      KAFKA_REPLICATION_FACTOR: '3',
      ADMIN_EMAIL: 'ops@example.com',
      ADMIN_PASSWORD: 'correct horse battery',
      RATE_LIMIT_DEVICE: '10/1',
      RATE_LIMIT_KEY: 'off',
      RATE_LIMIT_IMPORT: '1000/1',
      RATE_LIMIT_STORE: 'mongodb',
      SPOOL_DIR: '/var/spool/gps',
      SPOOL_MAX_BYTES: '1000000',
      SPOOL_MAX_AGE_SECONDS: '3600',
      FACTS_GRACE_SECONDS: '60',
      RETENTION_DAYS: '90',
      CORS_ORIGINS: 'https://map.example.org http://localhost:5173',
      TRUST_PROXY: '1',
      LOG_LEVEL: 'debug',
      SHUTDOWN_DEADLINE_MS: '2000',
      CONSOLE_PUBLIC_URL: 'https://Fleet.example.org/gps/',
      INGEST_PUBLIC_URL: 'https://GPS.example.com/in/',
      INGEST_INTERNAL_URL: 'http://ingest-api:8080',
      MAP_TILE_URL: 'https://tile.openstreetmap.org/{z}/{x}/{y}.png',
      MAP_ATTRIBUTION: '© OpenStreetMap contributors',
      MAP_MAX_ZOOM: '19',
      MAP_STREETS: 'off',
    })
    expect(config).toEqual({
      factsGraceSeconds: 60,
      webhooks: { allowNetworks: [] },
      spoolMaxAgeSeconds: 3600,
      host: '0.0.0.0',
      ingestPort: 0,
      adminPort: 9001,
      projectorPort: 9002,
      dataDir: '/var/lib/gps',
      distributed: {
        kafka: {
          brokers: ['a:9092', 'b:9093'],
          ssl: true,
          sasl: { mechanism: 'scram-sha-512', username: 'gps', password: 'pw' },
          topicPrefix: 'fleet',
          replicationFactor: 3,
          retentionMs: 90 * 86_400_000,
          registry: { url: 'http://registry:8081/apis/ccompat/v7' },
        },
        mongodbUrl: 'mongodb://user:secret@m1:27017,m2:27017/gps',
      },
      firstOperator: { email: 'ops@example.com', password: 'correct horse battery' },
      rateLimits: {
        device: { points: 10, seconds: 1 },
        key: 'off',
        import: { points: 1000, seconds: 1 },
        auth: { points: 30, seconds: 60 },
        admin: { points: 1200, seconds: 60 },
        store: 'mongodb',
      },
      spool: { directory: '/var/spool/gps', maxBytes: 1_000_000, maxAgeSeconds: 3_600 },
      retention: 90,
      corsOrigins: ['https://map.example.org', 'http://localhost:5173'],
      trustProxy: 1,
      logLevel: 'debug',
      shutdownDeadlineMs: 2_000,
      consolePublicUrl: 'https://fleet.example.org/gps',
      ingestPublicUrl: 'https://gps.example.com/in',
      ingestInternalUrl: 'http://ingest-api:8080',
      maps: [
        {
          name: 'tile.openstreetmap.org',
          kind: 'tiles',
          url: 'https://tile.openstreetmap.org/{z}/{x}/{y}.png',
          attribution: '© OpenStreetMap contributors',
          maxZoom: 19,
        },
      ],
    })
  })

  test('by default a spool holds a gibibyte and a day', () => {
    expect(loadConfig({ SPOOL_DIR: '/spool' }).spool).toEqual({
      directory: '/spool',
      maxBytes: 1_073_741_824,
      maxAgeSeconds: 86_400,
    })
    expect(loadConfig({ SPOOL_MAX_BYTES: '5' }).spool).toBeUndefined()
    expect(faults({ SPOOL_MAX_BYTES: '1e3x', SPOOL_MAX_AGE_SECONDS: '0' })).toMatch(
      /SPOOL_MAX_BYTES must be bytes.*\n.*SPOOL_MAX_AGE_SECONDS must be seconds/,
    )
  })

  test('an empty variable counts as unset', () => {
    expect(loadConfig({ INGEST_PORT: '', KAFKA_BROKERS: '' })).toEqual(loadConfig({}))
  })

  test('one message lists every bad variable and what it expects', () => {
    const message = faults({
      INGEST_PORT: '80a',
      ADMIN_PORT: '70000',
      RATE_LIMIT_KEY: '5',
      RETENTION_DAYS: '0',
      LOG_LEVEL: 'loud',
    })
    expect(message.split('\n').slice(1)).toEqual([
      '  INGEST_PORT must be a port from 0 to 65535 (0 picks a free one), not "80a"',
      '  ADMIN_PORT must be a port from 0 to 65535 (0 picks a free one), not "70000"',
      '  RATE_LIMIT_KEY must be points/seconds, for example 300/60, or off, not "5"',
      '  RETENTION_DAYS must be a whole number of days, 1 to 3650, or off, not "0"',
      '  LOG_LEVEL must be fatal, error, warn, info, debug, trace or silent, not "loud"',
    ])
  })

  test.each([
    [{ KAFKA_BROKERS: 'a:9092' }, 'MONGODB_URL'],
    [{ MONGODB_URL: 'mongodb://m' }, 'KAFKA_BROKERS'],
    [{ ADMIN_EMAIL: 'ops@example.com' }, 'ADMIN_PASSWORD'],
    [{ ADMIN_PASSWORD: 'correct horse battery' }, 'ADMIN_EMAIL'],
    [{ RATE_LIMIT_STORE: 'mongodb' }, 'MONGODB_URL'],
    [{ KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'u' }, 'KAFKA_SASL_PASSWORD'],
  ])('%o does not work without %s', (env, missing) => {
    expect(faults(env)).toContain(missing)
  })

  test('the streets of OpenStreetMap are offered unless MAP_STREETS is off', () => {
    expect(loadConfig({}).maps).toEqual([OSM])
    expect(loadConfig({ MAP_STREETS: 'off' }).maps).toEqual([])
    expect(faults({ MAP_STREETS: 'on' })).toContain('MAP_STREETS must be osm or off')
  })

  test('a map can be a PMTiles file here or elsewhere', () => {
    expect(loadConfig({ MAP_PMTILES: '/srv/world.pmtiles' }).maps).toEqual([
      { name: 'world.pmtiles', kind: 'pmtiles file', file: '/srv/world.pmtiles' },
      OSM,
    ])
    expect(loadConfig({ MAP_PMTILES: 'https://maps.example/w.pmtiles?v=2' }).maps[0]).toEqual({
      name: 'w.pmtiles?v=2',
      kind: 'pmtiles',
      url: 'https://maps.example/w.pmtiles?v=2',
    })
  })

  test('several maps, named explicitly or after their location, are offered in order', () => {
    const { maps } = loadConfig({
      MAP_TILE_URL: 'https://a.example/{z}/{x}/{y}?k=1  Satellite=https://b.example/{z}/{x}/{y}',
      MAP_PMTILES: 'Austria=/srv/a=b.pmtiles',
      MAP_MAX_ZOOM: '14',
      MAP_STREETS: 'off',
    })
    expect(maps).toEqual([
      { name: 'a.example', kind: 'tiles', url: 'https://a.example/{z}/{x}/{y}?k=1', maxZoom: 14 },
      { name: 'Satellite', kind: 'tiles', url: 'https://b.example/{z}/{x}/{y}', maxZoom: 14 },
      { name: 'Austria', kind: 'pmtiles file', file: '/srv/a=b.pmtiles', maxZoom: 14 },
    ])
    expect(loadConfig({ MAP_PMTILES: 'My%20town=/srv/my%20maps/town.pmtiles' }).maps[0]).toEqual({
      name: 'My town',
      kind: 'pmtiles file',
      file: '/srv/my maps/town.pmtiles',
    })
    const both = 'https://a.example/{z}/{x}/{y} https://b.example/{z}/{x}'
    expect(faults({ MAP_TILE_URL: both })).toContain('MAP_TILE_URL must be')
  })

  test.each([
    ['INGEST_PUBLIC_URL', 'gps.example.com'],
    ['INGEST_PUBLIC_URL', 'http://0.0.0.0:8080'],
    ['INGEST_PUBLIC_URL', 'http://[::]:8080'],
    ['INGEST_PUBLIC_URL', 'https://a:b@gps.example.com'],
    ['INGEST_PUBLIC_URL', 'https://gps.example.com/?a=1'],
    ['INGEST_INTERNAL_URL', 'kafka://ingest-api'],
    ['MAP_TILE_URL', 'https://tile.example/{z}/{x}.png'],
    ['MAP_TILE_URL', 'https://{s}.tile.example/{z}/{x}/{y}.png'],
    ['MAP_TILE_URL', 'https://{x}.tile.example/{z}/{y}.png'],
    ['MAP_TILE_URL', 'https://tile.example/{z}/{z}/{x}/{y}.png'],
    ['MAP_TILE_URL', '/tiles/{z}/{x}/{y}.png'],
    ['MAP_PMTILES', 's3://maps/world.pmtiles'],
    ['MAP_PMTILES', 'file:///srv/world.pmtiles'],
  ])('%s is not %s, and the message says what to set instead', (name, value) => {
    const message = faults({ [name]: value })
    const { length } = message.split('\n')
    expect(length).toBe(2)
    expect(message).toContain(`${name} must be`)
    expect(message).toMatch(/https?:\/\//)
    expect(message).toContain(value)
  })

  test.each([
    [{ MAP_MAX_ZOOM: '7' }, 'MAP_MAX_ZOOM needs a map: set MAP_TILE_URL or MAP_PMTILES too'],
    [{ MAP_ATTRIBUTION: 'me' }, 'MAP_ATTRIBUTION needs a map'],
    [
      { MAP_PMTILES: '/w', MAP_ATTRIBUTION: '<a href="x">me</a>' },
      'MAP_ATTRIBUTION must be a plain',
    ],
    [{ MAP_PMTILES: '/w', MAP_MAX_ZOOM: '25' }, 'MAP_MAX_ZOOM must be a whole number from 0 to 24'],
  ])('the map variables %o are rejected: %s', (env, message) => {
    expect(faults(env)).toContain(message)
  })

  test('an error about tiles names the placeholders', () => {
    expect(faults({ MAP_TILE_URL: 'x' })).toContain('URL with {z}, {x} and {y} after')
  })

  test('a message never repeats the value of a secret', () => {
    const message = faults({
      ADMIN_EMAIL: 'ops@example.com',
      ADMIN_PASSWORD: 'tooshort',
      MONGODB_URL: 'http://user:hunter2@m',
      KAFKA_BROKERS: 'a:1',
    })
    expect(message).toContain('ADMIN_PASSWORD must be a password of at least 12 characters')
    expect(message).toContain('MONGODB_URL')
    expect(message).not.toMatch(/tooshort|hunter2/)
  })

  test('.env.example names every variable, and all its values are valid', () => {
    const read = (file: string) =>
      readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8')
    const named = [...read('.env.example').matchAll(/^([A-Z][A-Z_]+)=(.*)$/gm)]
    const known = [
      ...read('runtime/config/variables.ts').matchAll(/^ {2}([A-Z][A-Z_]+): /gm),
      ...read('runtime/config/console-variables.ts').matchAll(/^ {2}([A-Z][A-Z_]+): /gm),
      ...read('runtime/config/outbound-variables.ts').matchAll(/^ {2}([A-Z][A-Z_]+): /gm),
      ...read('docker-compose.yml').matchAll(/\$\{([A-Z_]+)/g),
    ]
    const names = (matches: RegExpExecArray[]) => [...new Set(matches.map((match) => match[1]))]
    expect(names(named).sort()).toEqual([...names(known), 'COMPOSE_PROFILES'].sort())
    const env: Record<string, string> = {}
    for (const [, name = '', value = ''] of named) env[name] = value
    expect(faults(env)).toBe('')
  })

  test('the networks, proxy, mail server and key for subscriptions are read; each error names its variable', () => {
    const key = Buffer.alloc(32, 7)
    const smtp = { SMTP_URL: 'smtps://a:b@mail.example', SMTP_FROM: 'GPS <gps@example.org>' }
    const config = loadConfig({
      ...smtp,
      SECRETS_KEY: key.toString('base64'),
      WEBHOOK_ALLOW_NETWORKS: '10.0.0.0/8, fd00::/8',
      WEBHOOK_PROXY: 'http://proxy.example:3128',
    })
    expect(config.secretsKey).toEqual(key)
    expect(config.webhooks.allowNetworks).toHaveLength(2)
    expect(config.webhooks.proxy).toBe('http://proxy.example:3128')
    expect(config.smtp).toEqual({ url: smtp.SMTP_URL, from: smtp.SMTP_FROM })
    expect(loadConfig({ SECRETS_KEY: key.toString('hex') }).secretsKey).toEqual(key)
    const message = faults({
      SECRETS_KEY: 'hunter2',
      WEBHOOK_ALLOW_NETWORKS: '10.0.0.1',
      WEBHOOK_PROXY: 'socks5://hunter2',
      SMTP_URL: 'http://hunter2',
      SMTP_FROM: 'nobody',
    })
    for (const name of [
      'SECRETS_KEY',
      'WEBHOOK_ALLOW_NETWORKS',
      'WEBHOOK_PROXY',
      'SMTP_URL',
      'SMTP_FROM',
    ]) {
      expect(message).toContain(`${name} must be`)
    }
    for (const expected of [
      '32 random bytes in base64 or hexadecimal, for example from: openssl rand -base64 32',
      'networks separated by blanks or commas, for example 192.168.0.0/16 fd00::/8',
      'the address that mails come from, for example GPS <gps@example.org>',
    ]) {
      expect(message).toContain(expected)
    }
    expect(message).not.toContain('hunter2')
    expect(faults({ SMTP_URL: 'smtp://mail.example' })).toContain('SMTP_FROM')
  })

  test.each([
    ['smtp://gps@example.com:pw@mail.example', 'gps@example.com', 'pw'],
    ['smtps://gps@example.com:p@ss/w?r#d@mail.example:465', 'gps@example.com', 'p@ss/w?r#d'],
    ['smtp://gps%40example.com:p%40:w@mail.example:587', 'gps@example.com', 'p@:w'],
    ['smtp://me:100%@mail.example/?name=gps', 'me', '100%'],
    ['smtp://me:12/3@mail.example', 'me', '12/3'],
    ['smtp://gps@example.com@mail.example', 'gps@example.com', ''],
  ])('%s has a user and a password with any characters', (url, user, password) => {
    const { smtp } = loadConfig({ SMTP_URL: url, SMTP_FROM: 'gps@example.org' })
    const read = new URL(smtp?.url ?? '')
    expect(read.hostname).toBe('mail.example')
    expect([read.username, read.password].map(decodeURIComponent)).toEqual([user, password])
  })

  test.each([
    'smtp://',
    'mail.example:25',
    'smtp://me@:25',
    'http://a@b@mail.example',
    'smtp://a b',
  ])('%s is not the URL of a mail server, and the error shows the expected form', (url) => {
    const message = faults({ SMTP_URL: url, SMTP_FROM: 'gps@example.org' })
    expect(message).toContain('starts with smtp:// or smtps:// and has a host, such as smtps://')
  })
})

test('a variable one letter from a known one is named with it, and others are left alone', () => {
  const env = { INGEST_PROT: '1', KAFKA_BROKER: 'a:1', admin_port: '2', INGEST_PORT: '3' }
  const foreign = { POST: '', HOSTS: '', INGEST_API_PORT: 'tcp://10.0.0.1:8080', KAFKA_OPTS: '' }
  expect(misspeltVariables({ ...env, ...foreign })).toEqual([
    { variable: 'INGEST_PROT', meant: 'INGEST_PORT' },
    { variable: 'KAFKA_BROKER', meant: 'KAFKA_BROKERS' },
    { variable: 'admin_port', meant: 'ADMIN_PORT' },
  ])
})
