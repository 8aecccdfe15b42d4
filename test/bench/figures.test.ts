import { describe, expect, test } from '@jest/globals'
import { figures } from '../../bench/figures.ts'
import { median } from '../../bench/statistics.ts'
import { valueIn, replaceMeasured, type MeasuredPart, type Row } from '../../bench/part.ts'

const measured = { at: '2026-01-01T00:00:00.000Z', machine: 'a machine', rounds: 1 }

function part(title: string, rows: readonly Row[], faults: readonly string[] = []): MeasuredPart {
  return { ...measured, title, rows, faults }
}

function projector(into: string, ratio: number, faults: readonly string[] = []): MeasuredPart {
  return part('Projecting a full log', [{ into, facts: 'decided', '÷ without': ratio }], faults)
}

function readable(p99: number): MeasuredPart {
  return part('From the 200 to readable', [{ service: 'embedded', 'p99 ms': p99 }])
}

function figureOf(one: MeasuredPart, name: string) {
  return figures([one]).find((figure) => figure.name.startsWith(name))
}

describe('the verdict of a figure', () => {
  test.each([
    [1.1, 'as wanted'],
    [1.15, 'as wanted'],
    [1.16, 'good enough'],
    [1.26, 'MISSED'],
  ])('a ratio of %d is %s', (ratio, verdict) => {
    expect(figureOf(projector('SQLite', ratio), 'projecting with facts')).toMatchObject({ verdict })
  })

  test.each([
    [20, 'as wanted'],
    [21, 'good enough'],
    [51, 'MISSED'],
  ])('a latency of %d ms is %s', (p99, verdict) => {
    expect(figureOf(readable(p99), '200 → readable')).toMatchObject({ verdict })
  })

  test('a table has no verdict if anything was not stored', () => {
    const voided = projector('SQLite', 1.1, ['3 acknowledged, 2 stored'])
    expect(figureOf(voided, 'projecting with facts')).toMatchObject({ verdict: 'void' })
  })

  test('a figure that was not measured has no value', () => {
    const figure = figureOf(projector('SQLite', 1), 'the same with 10 000 geofences')
    expect(figure).not.toHaveProperty('value')
    expect(figure).toMatchObject({ verdict: 'not measured' })
  })
})

test('the median of an even number of values lies between the middle two', () => {
  expect(median([4, 1, 2, 100])).toBe(3)
  expect(median([7, 1, 9])).toBe(7)
  expect(median([])).toBeNaN()
})

test('a later partial measurement replaces only its rows', () => {
  const earlier = [projector('SQLite', 0.5), readable(20)]
  const both = replaceMeasured(earlier, [projector('MongoDB', 1)])
  const later = replaceMeasured(both, [projector('SQLite', 0.8)])
  const ratio = (into: string) =>
    valueIn(later, { title: 'Projecting a full log', row: [into, 'decided'], column: '÷ without' })
  expect([ratio('SQLite'), ratio('MongoDB')]).toEqual([0.8, 1])
  expect(later.map(({ title }) => title)).toEqual(earlier.map(({ title }) => title))
  expect(later[1]).toEqual(readable(20))
})
