import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { importHistory } from '../../commands/import/import-history.ts'
import { parseOptions } from '../../commands/import/options.ts'
import { ImportTally } from '../../commands/import/tally.ts'

/** An example of each file that the document names. */
const FILES: Readonly<Record<string, string>> = {
  'devices.json': 'histories/traccar-devices.json',
  'positions-*.json.gz': 'histories/traccar-positions.json',
  'route.csv': 'histories/traccar-route.csv',
  '/var/spool/owntracks/recorder/store/rec/jane/phone/*.rec': 'histories/2024-03.rec',
  'ocat.json': 'histories/ocat.json',
  'geopulse.csv': 'histories/geopulse.csv',
  'Records.json': 'histories/records.json',
  'Timeline.json': 'histories/timeline-android.json',
  'location-history.json': 'histories/location-history-ios.json',
  'dawarich.json': 'histories/dawarich.geojson',
  'holiday.gpx': 'histories/phonetrack.gpx',
  '2023/*.gpx': 'tracks/courier-van.gpx',
  'activity.fit': 'histories/ride.fit',
  'activity.tcx': 'histories/walk.tcx',
  'walk.kml': 'histories/walk.kml',
  '20240501.csv': 'histories/gpslogger.csv',
  'points.geojson': 'histories/overland.geojson',
  'my-device-positions.ndjson': 'histories/own.ndjson',
  'my-device-positions.csv': 'histories/own.csv',
}

const moving = readFileSync('docs/moving.md', 'utf8')
const commands = [...moving.matchAll(/^npm run import -- (.+)$/gm)].map(([, line = '']) => line)

test.each(commands)('the command in moving.md with %s imports such a file', async (line) => {
  const words = line
    .split(' ')
    .map((word) => (word in FILES ? join('test', 'fixtures', FILES[word] ?? '') : word))
  const options = parseOptions([...words, '--dry-run'], {})
  if (options === 'help') throw new Error('no command')
  const tally = new ImportTally()
  await importHistory(options, { tally, screen: { write: () => undefined } })
  expect(tally.unreadable).toEqual([])
  expect(tally.accepted).toBeGreaterThan(0)
})

test('moving.md mentions every file tested here', () => {
  const words = new Set(commands.join(' ').split(' '))
  expect(Object.keys(FILES).filter((file) => !words.has(file))).toEqual([])
})
