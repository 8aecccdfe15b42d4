import { expect, test } from '@jest/globals'
import type { components } from '../../../../console/api/schema.ts'
import { troublesOf } from '../../../../console/pages/system/troubles.ts'

type System = components['schemas']['System']

const NOW = Date.parse('2026-01-10T12:00:00.000Z')
const HOUR_MS = 3_600_000
const at = (hoursAgo: number) => new Date(NOW - hoursAgo * HOUR_MS).toISOString()

const instance = (service: System['instances'][number]['service'], version = '1.0.0') => ({
  service,
  version,
  host: 'here',
  startedAt: at(9),
  reportedAt: at(0),
})

/** As reported by separate services on Kafka and MongoDB. */
const DISTRIBUTED: System = {
  mode: 'embedded',
  version: '1.0.0',
  retentionDays: null,
  deadLetters: 0,
  factsLagSeconds: 0,
  failingDevices: 0,
  silenceHeldSeconds: 0,
  spool: null,
  acceptedPerMinute: 9,
  refusedPerMinute: 0,
  lag: { events: 9, seconds: 60 },
  instances: [instance('ingest-api'), instance('projector'), instance('admin-api')],
}
const WELL: System = {
  ...DISTRIBUTED,
  storage: { dataBytes: 5e9, freeBytes: 1e9 },
  lastBackupAt: at(48),
}

function wrongIn(change: Partial<System>, receivingSince?: string): string[] {
  return troublesOf({ ...WELL, ...change }, { now: NOW, receivingSince }).map(({ wrong }) => wrong)
}

test('nothing is wrong while everything is within its limits or unknown', () => {
  expect(wrongIn({})).toEqual([])
  expect(wrongIn({ deadLetters: null }, at(999))).toEqual([])
  // Every start opens a ten-minute window.
  expect(wrongIn({ silenceHeldSeconds: 600 })).toEqual([])
  expect(wrongIn({ silenceHeldSeconds: null })).toEqual([])
  expect(wrongIn({ spool: { events: 0, bytes: 0, oldestSeconds: 0 } })).toEqual([])
  expect(troublesOf(DISTRIBUTED, { now: NOW, receivingSince: at(999) })).toEqual([])
})

test.each<[wrong: string, change: Partial<System>]>([
  ['No ingest API has reported for 30 seconds', { instances: [instance('projector')] }],
  ['No projector has reported', { lag: null }],
  ['The map is 2 min behind: 7 accepted positions', { lag: { events: 7, seconds: 121 } }],
  [
    '3 accepted positions waiting for Kafka, the oldest for 1 min.',
    { spool: { events: 3, bytes: 900, oldestSeconds: 61 } },
  ],
  ['The disk has 400.0 MB left.', { storage: { dataBytes: 5e9, freeBytes: 4e8 } }],
  ['The last backup is 3 d 1 h old.', { lastBackupAt: at(73) }],
  ['2 events in the log could not be read.', { deadLetters: 2 }],
  ['Events are found 2 min later than positions are shown.', { factsLagSeconds: 180 }],
  ['No events could be found for 3 devices.', { failingDevices: 3 }],
  ['Silences have not been judged for 20 min', { silenceHeldSeconds: 1_200 }],
  [
    'Processes run different versions: 1.0.0, 1.1.0.',
    { instances: [instance('ingest-api', '1.1.0'), instance('projector')] },
  ],
  ['Reports are being rejected: fewer than 1 per minute.', { refusedPerMinute: 0.2 }],
])('%s', (wrong, change) => {
  expect(wrongIn(change)).toEqual([expect.stringContaining(wrong)])
})

test('a service without any backup shows a warning once its oldest data are a day old', () => {
  expect(wrongIn({ lastBackupAt: null })).toEqual([])
  expect(wrongIn({ lastBackupAt: null }, at(24))).toEqual([])
  expect(wrongIn({ lastBackupAt: null }, at(24.01))).toEqual(['No backup has been made yet.'])
})

test('all troubles are listed, the worst first, each with its remedy', () => {
  const system = { ...WELL, lag: null, refusedPerMinute: 4, deadLetters: 1 }
  const troubles = troublesOf(system, { now: NOW, receivingSince: undefined })
  expect(troubles.map(({ path }) => path)).toEqual([undefined, undefined, '/rejections'])
  for (const { todo } of troubles) expect(todo).toMatch(/^[A-Z].*\.$/)
})

test('a failing notification counts as a trouble, and its page says why', () => {
  const failing = { id: 'n1', name: 'Billing', state: 'failing' } as const
  expect(troublesOf(DISTRIBUTED, { now: NOW, receivingSince: at(999) }, [failing])).toEqual([
    {
      wrong: 'The notification \u2068Billing\u2069 is failing: its messages do not arrive.',
      todo: 'See why, and what waits.',
      path: '/notifications/n1',
    },
  ])
})
