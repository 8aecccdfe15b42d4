import { expect, test } from '@jest/globals'
import { factSentence, isSos, sentenceParts } from '../../../schemas/facts/sentence.ts'

const yard = { id: '1', name: 'Yard', revision: 1 }
const warm = { id: '2', name: 'Freezer is warm', revision: 1 }

test.each([
  [{ type: 'device.online', previous: null }, 'Van 7 reported for the first time'],
  [{ type: 'device.online', previous: 'offline' }, 'Van 7 is online again'],
  [{ type: 'device.offline' }, 'Van 7 went offline'],
  [{ type: 'geofence.entered', geofence: yard }, 'Van 7 entered Yard'],
  [{ type: 'geofence.left', geofence: yard, seconds: 7_800 }, 'Van 7 left Yard after 2 h 10 min'],
  [{ type: 'geofence.left', geofence: yard, seconds: null }, 'Van 7 left Yard'],
  [{ type: 'rule.raised', rule: warm }, 'Van 7: Freezer is warm'],
  [{ type: 'rule.cleared', rule: warm, seconds: 720 }, 'Van 7: Freezer is warm ended after 12 min'],
  [{ type: 'alarm.reported', alarm: 'sos', late: false }, 'Van 7 sent an SOS'],
  [{ type: 'alarm.reported', alarm: 'SOS', late: true }, 'Van 7 sent an SOS, which arrived late'],
  [
    { type: 'alarm.reported', alarm: 'powerCut', late: false },
    'Van 7 reported an alarm: power cut',
  ],
  [
    { type: 'alarm.reported', alarm: 'Door_2 open', late: false },
    'Van 7 reported an alarm: Door_2 open',
  ],
] as const)('the sentence of %o', (fact, sentence) => {
  expect(factSentence(fact, 'Van 7')).toBe(sentence)
})

test('names in a sentence are separate parts, so that a page can link them', () => {
  const fact = { type: 'geofence.left', geofence: yard, seconds: 30 } as const

  expect(sentenceParts(fact, 'Van 7')).toEqual([
    { text: 'Van 7', names: 'device' },
    { text: ' left ' },
    { text: 'Yard', names: 'geofence' },
    { text: ' after 30 s' },
  ])
})

test('only an SOS asks for help, in any letter case', () => {
  expect(['sos', 'SOS', 'lowBattery', 'sosCancelled'].filter(isSos)).toEqual(['sos', 'SOS'])
})
