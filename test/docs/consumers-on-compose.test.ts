import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { command, composeFile, consumers, optionOf, overrideFile } from './consumers-on-compose.ts'

const root = new URL('../../', import.meta.url)
const asyncapi = readFileSync(new URL('schemas/asyncapi.yaml', root), 'utf8')

test('consumers.md names every header that a consumer must check', () => {
  const forAllEvents = ['ce_source', 'ce_specversion']
  const headers = new Set(asyncapi.match(/\bce_[a-z]+/g))
  for (const header of headers) {
    if (!forAllEvents.includes(header)) expect(consumers).toContain(`\`${header}\``)
  }
  expect(headers.size).toBeGreaterThan(7)
})

test('the consumer in a container gets the same settings as the services in docker-compose.yml', () => {
  const line = command('docker compose exec')
  const { environment } = composeFile.services['ingest-api']
  expect(optionOf(line, 'brokers')).toBe(environment['KAFKA_BROKERS'])
  expect(optionOf(line, 'registry')).toBe(environment['SCHEMA_REGISTRY_URL'])
  const [, service = '', program = ''] = /exec (\S+) node dist\/(\S+)\.js /.exec(line) ?? []
  expect(composeFile.services).toHaveProperty([service])
  expect(existsSync(new URL(`${program}.ts`, root))).toBe(true)
})

test('the file for consumers on the host publishes the ports that their command uses', () => {
  const line = command('npm run --silent example:consumer -- --brokers localhost:9094')
  const { kafka, 'schema-registry': registry } = overrideFile.services
  const { KAFKA_ADVERTISED_LISTENERS: advertised = '' } = kafka.environment
  expect(advertised.split(',')).toContain(`HOST://${optionOf(line, 'brokers')}`)
  expect(kafka.ports).toEqual(['127.0.0.1:9094:9094'])
  const url = new URL(optionOf(line, 'registry') ?? '')
  const inside = new URL(
    composeFile.services['ingest-api'].environment['SCHEMA_REGISTRY_URL'] ?? '',
  )
  expect(registry.ports).toEqual([`127.0.0.1:${url.port}:${inside.port}`])
  expect(url.pathname).toBe(inside.pathname)
})

test('the file for consumers on the host keeps the listeners that docker-compose.yml has', () => {
  for (const [name, value] of Object.entries(overrideFile.services.kafka.environment)) {
    const before = composeFile.services.kafka.environment[name]?.split(',') ?? []
    expect(before).not.toEqual([])
    expect(value.split(',')).toEqual(expect.arrayContaining(before))
  }
})
