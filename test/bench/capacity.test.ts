import { describe, expect, test } from '@jest/globals'
import { capacity, type FleetSize } from '../../bench/capacity.ts'
import { parseOptions } from '../../bench/options.ts'
import { UsageError } from '../../runtime/process/command-line.ts'
import { loadConfig } from '../../runtime/config/config.ts'
import { readResult, type Result } from '../../bench/part.ts'

const BYTES = { event: 600, document: 400 }
const FLEET: FleetSize = { devices: undefined, intervalSeconds: 10, retentionDays: 30 }

function costing({ embedded = 100, ingest = 50, projector = 20, faults = [] as string[] }): Result {
  const measured = { at: '2026-01-01T00:00:00.000Z', machine: 'a machine', rounds: 1 }
  const report = (service: string, micros: number) => {
    return { service, load: '64 connections, known devices', 'CPU µs/report': micros }
  }
  return [
    {
      ...measured,
      title: 'Taking reports',
      faults,
      rows: [report('embedded', embedded), report('Kafka, JSON', ingest)],
    },
    {
      ...measured,
      title: 'Projecting a full log',
      faults: [],
      rows: [{ into: 'MongoDB', facts: 'none', 'CPU µs/event': projector }],
    },
  ]
}

/** The cells of a row, by default for 10^4, 10^6 and 10^8 devices. */
function line(name: string, result: Result, fleet = FLEET): string[] {
  const text = capacity(result, BYTES, fleet)
  const found = text.split('\n').find((one) => one.startsWith(name))
  return (found ?? '').slice(name.length).trim().split(/ {2,}/)
}

describe('capacity for a fleet', () => {
  test('the capacity of a fleet follows from the cost of a report', () => {
    const result = costing({})
    expect(line('reports/s', result)).toEqual(['1 000', '100 000', '10 000 000'])
    // Cores are half used.
    expect(line('ingest APIs, cores', result)).toEqual(['0.1', '10', '1 000'])
    expect(line('  machines of 4 cores', result)).toEqual(['2', '3', '250'])
    expect(line('  machines of 4 cores', costing({ ingest: 100 }))).toEqual(['2', '5', '500'])
    // 180 MB/s including replicas.
    expect(line('  brokers', result)).toEqual(['3', '5', '450'])
    expect(line('log a day, one copy', result)[1]).toBe('5.18 TB')
    expect(line('stored, 30 days, 3 copies', result)[1]).toBe('778 TB')
  })

  test('a small fleet needs one process; any fleet can run two of each service', () => {
    const result = costing({})
    expect(line('one process (npm start), cores', result)).toEqual(['0.2', 'too many', 'too many'])
    expect(line('  processes', result)[0]).toBe('2')
    expect(line('Kafka: partitions', result)[0]).toBe('12')
    expect(line('MongoDB: shards', result)).toEqual(['1', '10', '1 000'])
  })

  test('the fleet has the requested size', () => {
    const fleet = { ...FLEET, devices: 20_000 }
    expect(line('devices, each reporting every 10 s', costing({}), fleet)).toEqual(['20 000'])
    expect(line('reports/s', costing({}), fleet)).toEqual(['2 000'])
    expect(line('one process (npm start), cores', costing({}), fleet)).toEqual(['0.4'])
    expect(parseOptions(['--capacity', '--devices', '20000'])).toMatchObject({ capacity: fleet })
  })

  test('the limits of one process are printed: its load, its disk and the limit per key', () => {
    const result = costing({ embedded: 200 })
    expect(line('  disk a day', result)).toEqual(['65.7 GB', 'too many', 'too many'])
    expect(capacity(result, BYTES, FLEET)).toContain(
      'One process ends at 2 500 reports/s, which are 25 000 devices and 164 GB a day.',
    )
    expect(loadConfig({}).rateLimits.key).toEqual({ points: 60_000, seconds: 60 })
    expect(capacity(result, BYTES, FLEET)).toContain('A key may send 1 000 reports/s')
  })

  test.each([
    ['--rounds cannot be given with --capacity', ['--capacity', '--rounds', '3']],
    ['--short cannot be given with --capacity', ['--capacity', '--short']],
    ['--capacity measures nothing: leave PART out', ['--capacity', 'kafka']],
    ['--interval needs --capacity', ['--interval', '60']],
    ['--retention needs --capacity', ['kafka', '--retention', '9']],
  ])('an option that would have no effect is rejected: %s', (message, args) => {
    expect(() => parseOptions(args)).toThrow(message)
  })

  test('the capacity follows from the bench result in the project', () => {
    const text = capacity(readResult('bench/result.json'), BYTES, FLEET)
    expect(text).toMatch(/^reports\/s +1 000 +100 000 +10 000 000$/m)
    expect(text).not.toMatch(/NaN|undefined|\?/)
  })

  test('a void or missing measurement is named, and no capacity is computed from it', () => {
    const voided = costing({ faults: ['1 acknowledged, 0 stored'] })
    expect(() => capacity(voided, BYTES, FLEET)).toThrow(UsageError)
    const submitOnly = costing({}).slice(0, 1)
    expect(() => capacity(submitOnly, BYTES, FLEET)).toThrow('npm run bench -- mongodb')
  })
})
