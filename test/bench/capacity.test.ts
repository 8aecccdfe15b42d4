import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { capacity, type FleetSize } from '../../bench/capacity.ts'
import { parseOptions } from '../../bench/options.ts'
import { UsageError } from '../../runtime/process/command-line.ts'
import { loadConfig } from '../../runtime/config/config.ts'
import { readResult, valueIn, type Result } from '../../bench/part.ts'
import { threeDigits } from '../../bench/table.ts'

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
      rows: [{ into: 'MongoDB', facts: 'decided', 'CPU µs/event': projector }],
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
    expect(line('  disk a day', result)).toEqual(['69.1 GB', 'too many', 'too many'])
    expect(capacity(result, BYTES, FLEET)).toContain(
      'One process ends at 2 500 reports/s, which are 25 000 devices and 173 GB a day.',
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

  test('the README has the figures of the bench result', () => {
    const result = readResult('bench/result.json')
    const readme = readFileSync('README.md', 'utf8').replaceAll(/ +/g, ' ')
    const valueOf = (title: string, row: string[], column: string) => {
      const value = valueIn(result, { title, row, column })
      if (value === undefined) throw new Error(`not measured: ${row.join()}`)
      return value
    }
    const perCore = (load: string) =>
      ['embedded', 'Kafka, JSON'].map(
        (service) => 1e6 / valueOf('Taking reports', [service, load], 'CPU µs/report'),
      )
    const row = (name: string, rates: readonly number[]) =>
      `| ${[name, ...rates.map((rate) => threeDigits(Number(rate.toPrecision(2))))].join(' | ')} |`
    const known = perCore('64 connections, known devices')
    expect(readme).toContain(row('reports a second and core, one by one', known))
    expect(readme).toContain(row('in batches of 100', perCore('batches of 100')))
    const first = perCore('64 connections, first reports')
    expect(readme).toContain(row('first reports of a new fleet', first))
    // Half of a core, a report every ten seconds.
    const devices = known.map((rate) => (rate / 2) * 10)
    expect(readme).toContain(row('devices that half a core is enough for', devices))
    const [p50, p99] = ['p50 ms', 'p99 ms'].map((column) =>
      Math.round(valueOf('From the 200 to readable', ['embedded'], column)),
    )
    expect(readme).toContain(`| ${p50} ms, ${p99} ms |`)
  })

  test('a void or missing measurement is named, and no capacity is computed from it', () => {
    const voided = costing({ faults: ['1 acknowledged, 0 stored'] })
    expect(() => capacity(voided, BYTES, FLEET)).toThrow(UsageError)
    const submitOnly = costing({}).slice(0, 1)
    expect(() => capacity(submitOnly, BYTES, FLEET)).toThrow('npm run bench -- mongodb')
  })
})
