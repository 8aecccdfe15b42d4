import { describe, expect, test } from '@jest/globals'
import { ASSUMPTIONS, capacity, type Costs } from '../../bench/capacity/capacity.ts'
import { costsOf, NotMeasuredError } from '../../bench/capacity/costs.ts'
import { parseCapacityOptions } from '../../bench/capacity/options.ts'
import { capacityTable } from '../../bench/capacity/table.ts'
import type { Parts } from '../../bench/measured.ts'
import { UsageError } from '../../runtime/arguments.ts'
import { readParts } from '../../bench/result.ts'

const COSTS: Costs = {
  ...{ embedded: 100, ingest: 50, projector: 20 },
  ...{ eventBytes: 600, documentBytes: 400 },
}
const BYTES = { eventBytes: 600, documentBytes: 400 }

describe('what a fleet needs', () => {
  test('follows from the cost of a report', () => {
    // 100 000 reports/s, cores used to a half.
    const million = capacity(1e6, COSTS, ASSUMPTIONS)
    expect(million).toMatchObject({
      reportsPerSecond: 100_000,
      embeddedCores: undefined,
      ingestCores: 10,
      ingestMachines: 3,
      projectorCores: 4,
      projectors: 4,
      partitions: 12,
      // 180 MB/s with all copies.
      brokers: 5,
      shards: 10,
      logBytesPerDay: 600 * 100_000 * 86_400,
      storedBytes: 1000 * 100_000 * 86_400 * 30 * 3,
    })
    const dearer = capacity(1e6, { ...COSTS, ingest: 100 }, ASSUMPTIONS)
    expect(dearer.ingestMachines).toBe(5)
    expect(dearer.costPerMonth).toBeGreaterThan(million.costPerMonth)
  })

  test('is one process for a small one, and two of each service for any', () => {
    expect(capacity(1e4, COSTS, ASSUMPTIONS)).toMatchObject({
      embeddedCores: 0.2,
      ...{ ingestMachines: 2, projectors: 2, partitions: 12, brokers: 3, shards: 1 },
    })
  })
})

describe('the costs of a result', () => {
  test('the result that comes with the project has them all', () => {
    const costs = costsOf(readParts('bench/result.json'), BYTES)
    const capacities = [1e4, 1e6, 1e8].map((devices) => capacity(devices, costs, ASSUMPTIONS))
    const table = capacityTable(capacities, costs, ASSUMPTIONS)
    expect(table).toMatch(/^reports\/s +1 000 +100 000 +10 000 000$/m)
    expect(table).not.toMatch(/NaN|undefined|\?/)
  })

  test('what is void or was not measured is named', () => {
    const { submit, projector } = readParts('bench/result.json')
    if (submit === undefined || projector === undefined) throw new Error('no result')
    const voided: Parts = { submit: { ...submit, faults: ['1 acknowledged, 0 stored'] }, projector }
    expect(() => costsOf(voided, BYTES)).toThrow(NotMeasuredError)
    expect(() => costsOf({ submit }, BYTES)).toThrow('npm run bench -- mongodb')
  })
})

test('assumptions are taken from the command line', () => {
  expect(parseCapacityOptions(['mine.json', '--retention', '365'])).toEqual({
    file: 'mine.json',
    assumptions: { ...ASSUMPTIONS, retentionDays: 365 },
  })
  expect(() => parseCapacityOptions(['--load', '0'])).toThrow(UsageError)
  expect(() => parseCapacityOptions(['a', 'b'])).toThrow('only one FILE')
})
