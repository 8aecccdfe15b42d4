import { describe, expect, test } from '@jest/globals'
import { figures } from '../../bench/figures.ts'
import { median } from '../../bench/median.ts'
import type { Parts } from '../../bench/measured.ts'
import { withMeasured } from '../../bench/result.ts'

const measured = { at: '2026-01-01T00:00:00.000Z', machine: 'a machine', rounds: 1 }

function projector(ratio: number, faults: string[] = []): Parts {
  const speeds = { perSecond: 1, barePerSecond: 1, cpuMicros: 1, events: 1, devices: 1 }
  return { projector: { ...measured, faults, rows: [{ store: 'SQLite', ratio, ...speeds }] } }
}

function readable(p99: number): Parts {
  const latency = { p50: 1, p99, p999: p99, max: p99 }
  return { readable: { ...measured, faults: [], reportsPerSecond: 200, asked: 1, latency } }
}

function verdictOf(parts: Parts, name: string) {
  return figures(parts).find((figure) => figure.name.startsWith(name))?.verdict
}

describe('the verdict of a figure', () => {
  test.each([
    [0.95, 'as wanted'],
    [0.9, 'as wanted'],
    [0.89, 'good enough'],
    [0.69, 'MISSED'],
  ])('a rate of %d of the limit is %s', (ratio, verdict) => {
    expect(verdictOf(projector(ratio), 'projector into SQLite')).toBe(verdict)
  })

  test.each([
    [20, 'as wanted'],
    [21, 'good enough'],
    [51, 'MISSED'],
  ])('a latency of %d ms is %s', (p99, verdict) => {
    expect(verdictOf(readable(p99), '200 → readable')).toBe(verdict)
  })

  test('a part in which something was not stored has none', () => {
    expect(verdictOf(projector(0.95, ['3 acknowledged, 2 stored']), 'projector into SQLite')).toBe(
      'void',
    )
  })

  test('what was not measured is no number', () => {
    const [figure] = figures({}).filter(({ name }) => name.startsWith('projector into MongoDB'))
    expect(figure).not.toHaveProperty('value')
    expect(figure?.verdict).toBe('not measured')
  })
})

test('the median of an even number of values is between the two in the middle', () => {
  expect(median([4, 1, 2, 100])).toBe(3)
  expect(median([7, 1, 9])).toBe(7)
  expect(median([])).toBeNaN()
})

test('what is measured alone later replaces its own rows and no others', () => {
  const both = withMeasured(projector(0.5), mongodb(1))
  expect(ratios(both)).toEqual({ SQLite: 0.5, MongoDB: 1 })
  expect(ratios(withMeasured(both, projector(0.8)))).toEqual({ SQLite: 0.8, MongoDB: 1 })
  expect(withMeasured(readable(20), both)).toMatchObject({ ...readable(20), ...both })
})

function mongodb(ratio: number): Parts {
  const { projector: measured } = projector(ratio)
  if (measured === undefined) throw new Error('no rows')
  return {
    projector: { ...measured, rows: measured.rows.map((row) => ({ ...row, store: 'MongoDB' })) },
  }
}

function ratios({ projector: measured }: Parts) {
  return Object.fromEntries(measured?.rows.map(({ store, ratio }) => [store, ratio]) ?? [])
}
