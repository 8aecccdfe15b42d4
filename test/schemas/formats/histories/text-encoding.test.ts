import { describe, expect, test } from '@jest/globals'
import { history, readHistory, asReports } from './read-history.ts'

const AT = { latitude: 1, longitude: 2, timestamp: '2024-01-01T00:00:00.000Z' }
const NAME = 'Zürich č'
const gpx = (encoding: string) =>
  `<?xml version="1.0" encoding="${encoding}"?><gpx creator="PhoneTrack"><trk><name>${NAME}</name>` +
  `<trkseg><trkpt lat="1" lon="2"><time>${AT.timestamp}</time></trkpt></trkseg></trk></gpx>`
const TEXTS = {
  gpx: gpx('utf-16'),
  csv: `deviceId,latitude,longitude,timestamp\n${NAME},1,2,${AT.timestamp}\n`,
  ndjson: JSON.stringify({ deviceId: NAME, ...AT }),
  geojson: JSON.stringify({
    type: 'FeatureCollection',
    features: [
      {
        type: 'Feature',
        geometry: { type: 'Point', coordinates: [2, 1] },
        properties: { deviceId: NAME, timestamp: AT.timestamp },
      },
    ],
  }),
}

async function reportsInText(bytes: Buffer) {
  return asReports((await readHistory(bytes)).found)
}

describe.each(Object.entries(TEXTS))('a text of %s', (_, text) => {
  const wide = (begin: string) => Buffer.from(begin + text, 'utf16le')
  test.each([
    ['UTF-8', Buffer.from(text)],
    ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${text}`)],
    ['UTF-8 with two of them', Buffer.from(`\ufeff\ufeff${text}`)],
    ['UTF-16 LE with a byte order mark', wide('\ufeff')],
    ['UTF-16 BE with a byte order mark', wide('\ufeff').swap16()],
    ['UTF-16 LE without one', wide('')],
    ['UTF-16 BE without one', wide('').swap16()],
  ])('is read in %s', async (_, bytes) => {
    expect(await reportsInText(bytes)).toEqual([{ deviceId: NAME, ...AT }])
  })
})

test('XML is read in the encoding that its declaration names', async () => {
  expect(await reportsInText(history('latin1.gpx'))).toMatchObject([
    { latitude: 48.1, longitude: 11.5 },
  ])
  for (const encoding of ['ISO-8859-1', 'windows-1252', 'latin1']) {
    const text = gpx(encoding).replace(NAME, 'München')
    expect(await reportsInText(Buffer.from(text, 'latin1'))).toMatchObject([
      { deviceId: 'München' },
    ])
    expect(await reportsInText(Buffer.from(`\n${text}`, 'latin1'))).toMatchObject([
      { deviceId: 'München' },
    ])
  }
  await expect(reportsInText(Buffer.from(gpx('klingon')))).rejects.toThrow(
    'encoding klingon is not known',
  )
})
