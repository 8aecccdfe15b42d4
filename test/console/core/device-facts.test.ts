import { expect, test } from '@jest/globals'
import {
  factPath,
  isFactOf,
  mergeFacts,
  sentenceOnDevicePage,
  type ApiFact,
} from '../../../console/core/device-facts.ts'

function fact(id: string, at: string, more: Partial<ApiFact> = {}): ApiFact {
  const own = { type: 'device.offline' as const, sequence: 1, deviceId: 'van 7', inside: [] }
  return { ...own, id, at, decidedAt: at, ...more }
}

const NOON = '2026-11-22T12:00:00.000Z'
const yard = { id: 'yard', name: 'Yard', revision: 1 }

test('a fact links to its time in the operator’s zone', () => {
  const path = factPath(fact('1', '2026-11-22T23:30:05.000Z'), 'Europe/Vienna')
  expect(path).toBe('/devices/van%207?day=2026-11-23&at=00%3A30%3A05')
})

test.each([
  [{}, true],
  [{ type: 'geofence.left' }, true],
  [{ type: 'geofence.entered' }, false],
  [{ deviceId: 'van 8' }, false],
  [{ geofenceId: 'yard' }, true],
  [{ geofenceId: 'harbour' }, false],
  [{ ruleId: 'fast' }, false],
  [{ from: NOON }, true],
  [{ to: NOON }, false],
] as const)('with the filter %o a fact from the stream is listed: %p', (filter, isListed) => {
  const left = fact('1', NOON, { type: 'geofence.left', geofence: yard })
  expect(isFactOf(left, filter)).toBe(isListed)
})

test('on the page of its device, a sentence does not name the device', () => {
  const left = fact('1', NOON, { type: 'geofence.left', geofence: yard, seconds: 7_800 })
  expect(sentenceOnDevicePage(left)).toBe('Left Yard after 2 h 10 min')
  const rule = { id: 'fast', name: 'too fast', revision: 1 }
  expect(sentenceOnDevicePage(fact('1', NOON, { type: 'rule.raised', rule }))).toBe('Too fast')
  expect(sentenceOnDevicePage(fact('1', NOON))).toBe('Went offline')
})

test('late and repeated facts appear once, in order', () => {
  const [late, first, second] = [
    fact('a', '2026-11-22T11:00:00.000Z'),
    fact('b', NOON),
    fact('c', NOON),
  ] as const
  const merged = mergeFacts([second, first], [late, first])
  expect(merged.map(({ id }) => id)).toEqual(['c', 'b', 'a'])
})
