import { expect, test } from '@jest/globals'
import { METRIC } from '../../../console/core/measures.ts'
import { ruleText, type RuleWhen } from '../../../console/core/rule-words.ts'

const units = { ...METRIC, locale: 'en' }
const names = new Map([
  ['yard', 'Yard'],
  ['port', 'Port'],
])

const CASES: readonly (readonly [RuleWhen, number, readonly string[] | undefined, string])[] = [
  [{ field: 'speed', above: 25 }, 0, undefined, 'Faster than 90 km/h'],
  [{ field: 'speed', above: 25, clear: 25 }, 60, undefined, 'Faster than 90 km/h for 1 min'],
  [
    { field: 'temperature', above: -15, clear: -18 },
    300,
    ['yard', 'port'],
    'Warmer than -15 °C for 5 min, until below -18 °C, in Yard or Port',
  ],
  [{ field: 'battery', below: 0.2 }, 0, undefined, 'Battery below 20 %'],
  [{ field: 'fuel', below: 10, clear: 12 }, 0, undefined, 'Fuel below 10 l, until above 12 l'],
  [{ field: 'ignition', is: true }, 0, undefined, 'Ignition on'],
  [{ field: 'doorOpen', is: false }, 0, undefined, 'doorOpen off'],
  [{ field: 'activity', is: 'driving' }, 0, undefined, 'Activity is driving'],
  [{ inside: 'yard' }, 7_200, undefined, 'At Yard for 2 h'],
  [{ outside: 'gone' }, 5_400, undefined, 'Away from a geofence for 1 h 30 min'],
  [{ stopped: true }, 1_800, undefined, 'Parked for 30 min'],
  [{ silent: true }, 90_000, undefined, 'Silent for 25 h'],
]

test.each(CASES)('the rule %j for %d s in %j reads %s', (when, forSeconds, geofenceIds, text) => {
  const rule = { when, forSeconds, ...(geofenceIds && { geofenceIds: [...geofenceIds] }) }
  expect(ruleText(rule, names, units)).toBe(text)
})

test('a rule about speed has the operator’s unit', () => {
  const when = { field: 'speed', above: 22.352 }
  expect(ruleText({ when }, names, { ...units, speed: 'mph' })).toBe('Faster than 50 mph')
})
