import { expect, test } from '@jest/globals'
import { readHistory } from './read-history.ts'

/** The start of an archive whose first file has this name. */
const zip = (name: string, content = '') => {
  const header = Buffer.alloc(30)
  header.write('PK\x03\x04')
  header.writeUInt16LE(name.length, 26)
  return Buffer.concat([header, Buffer.from(name + content), Buffer.alloc(50, 0xe4)])
}
const latin1 = (text: string) => Buffer.from(text, 'latin1')

test.each<[string, Buffer, string]>([
  ['a workbook', zip('[Content_Types].xml'), 'it is a workbook: save it as CSV'],
  ['a workbook', zip('xl/workbook.xml'), 'it is a workbook: save it as CSV'],
  ['a workbook', zip('docProps/app.xml', 'xl/workbook.xml'), 'it is a workbook: save it as CSV'],
  [
    'a workbook',
    zip('mimetype', 'application/vnd.oasis.opendocument.spreadsheet'),
    'it is a workbook: save it as CSV',
  ],
  ['a workbook', zip('_rels/.rels'), 'it is a workbook: save it as CSV'],
  ['a workbook', zip('Index/Document.iwa'), 'it is a workbook: save it as CSV'],
  ['an old workbook', latin1('\xd0\xcf\x11\xe0\xa1\xb1'), 'of an old Office: save it as CSV'],
  ['KMZ', zip('doc.kml'), 'it is a KMZ archive: unpack it'],
  ['KMZ', zip('tracks/2024 walk.kml'), 'it is a KMZ archive: unpack it'],
  ['a ZIP', zip('Takeout/Records.json'), 'it is a ZIP archive: unpack it'],
  ['7z', latin1("7z\xbc\xaf'"), 'compressed with something other than gzip: unpack it'],
  ['zstd', latin1('\x28\xb5\x2f\xfd\x00'), 'compressed with something other than gzip: unpack it'],
  ['a database', latin1('SQLite format 3\0'), 'it is a SQLite database: export GPX or CSV'],
  ['a photo', latin1('\xff\xd8\xff\xe1'), 'it is a document or an image, not data'],
  [
    'NMEA',
    latin1('$GPRMC,081836,A,3751.65,S,14507.36,E,0,360,130998,,*62\r\n'),
    'gpsbabel -i nmea',
  ],
  [
    'NMEA',
    latin1('\r\n$GNGGA,001043.00,4404.14,N,12118.85,W,1,12,0.98,1113.0,M,-21.3,M,,*47\n'),
    'it is NMEA 0183',
  ],
  ['NMEA', latin1('# log\n$GPGSV,3,1,11,10,63,137,17*42\n'), 'it is NMEA 0183'],
  [
    'IGC',
    latin1('AXXX001 logger\r\nHFDTE150301\r\nB1101355206343N00006198WA0058700558\r\n'),
    'gpsbabel -i igc',
  ],
  [
    'Timeline Edits',
    latin1('{"timelineEdits":[{"deviceId":"987","rawSignal":{"signal":{}}}]}'),
    'it is Timeline Edits.json, which has corrections and signals for Google, not a history: import Records.json',
  ],
  ['Timeline Edits', latin1('{\n  "timelineEdits" : [ ]}'), 'it is Timeline Edits.json'],
  [
    'a month of semantic history',
    latin1('{"timelineObjects":[]}'),
    'it is a month of semantic history, which has guesses instead of positions',
  ],
  ['a web page', latin1('<!DOCTYPE html><html>'), 'it is a web page, perhaps the one to sign in'],
])('an unsupported format (%s) is named, with advice', async (_kind, bytes, message) => {
  await expect(readHistory(bytes)).rejects.toThrow(message)
})
