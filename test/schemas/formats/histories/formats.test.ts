import { gzipSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { NO_TIMESTAMP } from '../../../../schemas/report/position-report.ts'
import { history, readHistory, readHistoryAt, asReports, reportsInText } from './read-history.ts'

const SAMPLES = [
  ['records.json', 'google-records'],
  ['timeline-android.json', 'google-android'],
  ['location-history-ios.json', 'google-ios'],
  ['2024-03.rec', 'owntracks-rec'],
  ['ocat.json', 'owntracks-json'],
  ['ocat.geojson', 'geojson'],
  ['ocat.csv', 'csv'],
  ['geopulse.csv', 'csv'],
  ['traccar-positions.json', 'traccar-json'],
  ['traccar-route.csv', 'traccar-csv'],
  ['dawarich.geojson', 'geojson'],
  ['overland.geojson', 'geojson'],
  ['phonetrack.gpx', 'gpx'],
  ['own.ndjson', 'ndjson'],
  ['own.csv', 'csv'],
  ['gpslogger.csv', 'csv'],
  ['feature.geojson', 'geojson'],
  ['records-overflow.json', 'google-records'],
  ['../tracks/ridge-walk.gpx', 'gpx'],
  ['walk.tcx', 'tcx'],
  ['walk.kml', 'kml'],
  ['ride.fit', 'fit'],
] as const

describe('every format', () => {
  test.each(SAMPLES)('%s is recognised as %s, also compressed', async (file, format) => {
    const read = await readHistory(history(file))
    expect(read.format).toBe(format)
    expect(read.found).not.toEqual([])
    expect(await readHistory(gzipSync(history(file)))).toEqual(read)
  })

  test.each(SAMPLES)('%s reads the same in any chunks', async (file, _format) => {
    const bytes = history(file).subarray(0, 20_000)
    const whole = await readHistory(bytes).catch(String)
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.nat(bytes.length), { maxLength: 40 }), async (cuts) => {
        const places = [0, ...cuts.sort((a, b) => a - b), bytes.length]
        const pieces = places.slice(1).map((end, index) => bytes.subarray(places[index], end))
        expect(await readHistory(...pieces).catch(String)).toEqual(whole)
      }),
      { numRuns: 30 },
    )
  })

  test('a text in UTF-16, as Windows writes it, is read like one in UTF-8', async () => {
    const csv = 'deviceId,latitude,longitude,timestamp\nvän,1,2,2024-01-01T00:00:00Z\n'
    const wide = Buffer.from(`\ufeff${csv}`, 'utf16le')
    expect(await readHistory(wide)).toEqual(await readHistory(Buffer.from(csv)))
  })

  test.each([
    ['', 'it is empty'],
    ['{"timelineObjects":[]}', 'Records.json'],
    ['PK\x03\x04', 'ZIP'],
    ['hello', '--format'],
    ['\x1f\x8bxx', 'compressed data'],
    ['{"locations":[{"latitudeE7":1}', 'ends after element 1, unfinished'],
    ['{"locations":[{"latitudeE7":1},]', 'not valid JSON after element 1'],
    ['<gpx><trk><trkseg><trkpt lat="1"', 'not well-formed XML'],
    ['latitude,longitude,timestamp\n"1', 'not valid CSV'],
  ])('%j cannot be read, and the error gives the reason', async (text, reason) => {
    await expect(readHistory(Buffer.from(text, 'latin1'))).rejects.toThrow(reason)
  })

  test('the format of binary data is not guessed', async () => {
    const text = Buffer.from('latitude,longitude,timestamp,deviceId\n1,2,3,v\xe4n', 'latin1')
    await expect(readHistory(text)).rejects.toThrow('not text in UTF-8')
  })
})

describe('Google', () => {
  test('degrees in Records.json are divided to match those of the Timeline', async () => {
    const { found } = await readHistory(history('records.json'))
    expect(asReports(found)).toEqual([
      {
        deviceId: 'given',
        latitude: 53.369055,
        longitude: -83.6950013,
        timestamp: '2013-03-01T05:17:39.849Z',
        accuracy: 22,
        altitude: 151,
        speed: 3,
        heading: 270,
        attributes: {
          activity: 'in_vehicle',
          charging: true,
          deviceTag: 1184882232,
          source: 'WIFI',
          verticalAccuracy: 4,
        },
      },
      {
        deviceId: 'given',
        latitude: 53.3690589,
        longitude: -83.6951347,
        timestamp: '2013-03-01T05:17:40.000Z',
      },
      'locations without coordinates',
      'latitude must be a number from -90 to 90 (WGS84 degrees)',
    ])
  })

  test('degrees in Records.json that overflowed 32 bits are corrected', async () => {
    const { found } = await readHistory(history('records-overflow.json'))
    expect(asReports(found)).toMatchObject([
      { latitude: 42, longitude: -85 },
      { latitude: -33.8621879, longitude: 151.2 },
      { latitude: 42, longitude: -85 },
    ])
    const location = { latitudeE7: -3956345417, longitudeE7: -3444967296, timestampMs: 1.7e12 }
    expect(await reportsInText(JSON.stringify({ locations: [location] }))).toMatchObject([
      { latitude: 33.8621879, longitude: 85 },
    ])
  })

  test("points in the same minute keep the file's order", async () => {
    const { found } = await readHistory(history('timeline-same-minute.json'))
    expect(asReports(found)).toMatchObject(
      [0, 2, 4, 6, 8, 10, 12, 14].map((n) => ({ latitude: (48_100 + n) / 1000 })),
    )
  })

  test('paths, activities, visits and raw signals of an Android Timeline are positions', async () => {
    const { found } = await readHistory(history('timeline-android.json'))
    const at = (latitude: number, longitude: number, timestamp: string, attributes?: object) => ({
      deviceId: 'given',
      latitude,
      longitude,
      timestamp,
      ...(attributes !== undefined && { attributes }),
    })
    const drive = { activity: 'in_passenger_vehicle' }
    expect(asReports(found)).toEqual([
      at(50.0506312, 14.3439906, '2024-04-03T06:14:00.000Z'),
      at(50.050632, -14.34399, '2024-04-03T06:46:00.000Z'),
      at(50.06, 14.35, '2024-04-03T08:00:00.000Z', { event: 'visit' }),
      at(50.06, 14.35, '2024-04-03T18:10:18.000Z', { event: 'visit' }),
      'visits within visits',
      at(50.06, 14.35, '2024-04-03T18:10:18.000Z', drive),
      at(50.08, 14.41, '2024-04-03T18:40:00.000Z', drive),
      'segments without positions',
      {
        ...at(50.0807, 14.4107, '2024-04-26T18:54:38.000Z', { source: 'GPS' }),
        accuracy: 9,
        altitude: 241.5,
        speed: 0.4,
      },
      'activityRecord',
      'wifiScan',
    ])
  })

  test("the points of an iOS Timeline have times in minutes after the segment's start", async () => {
    const { found } = await readHistory(history('location-history-ios.json'))
    expect(asReports(found)).toMatchObject([
      { latitude: 29.725358, longitude: -95.482259, timestamp: '2025-07-29T13:01:00.000Z' },
      { latitude: 29.725688, longitude: -95.477992, timestamp: '2025-07-29T14:05:00.000Z' },
      { latitude: 29.7257, timestamp: '2025-07-29T15:00:00.000Z' },
      { latitude: 29.7257, timestamp: '2025-07-29T16:00:00.000Z' },
      { latitude: 29.7257, timestamp: '2025-07-29T16:00:00.000Z' },
      { latitude: 29.74, longitude: -95.49, timestamp: '2025-07-29T16:20:00.000Z' },
    ])
  })
})

test('no format reads a network name', async () => {
  for (const [file] of SAMPLES) {
    const { found } = await readHistory(history(file))
    expect(JSON.stringify(asReports(found))).not.toContain('Home')
  }
})

describe('OwnTracks Recorder', () => {
  test("a line is read as the app's message, with the device in its topic", async () => {
    const { found } = await readHistory(history('2024-03.rec'))
    expect(asReports(found)).toMatchObject([
      {
        deviceId: 'jane/phone',
        latitude: 52.225,
        longitude: 13.332,
        accuracy: 10,
        altitude: 36,
        speed: 10,
        heading: 98,
        battery: 0.94,
        attributes: { charging: true, connection: 'wifi', pressure: 1002.66, verticalAccuracy: 4 },
        timestamp: '2024-03-01T09:03:09.000Z',
      },
      { deviceId: 'jane/phone', latitude: 52.226, timestamp: '2024-03-01T17:46:02.000Z' },
      'entries without a position',
      expect.stringMatching(/JSON/),
      { latitude: 52.229, speed: 0.833333 },
    ])
    expect(asReports(found)[1]).not.toHaveProperty('accuracy')
  })

  const rec = (payload: object, topic = '*') =>
    `2024-03-01T09:03:09Z\t${topic.padEnd(18)}\t${JSON.stringify(payload)}\n`
  const at = { _type: 'location', tid: 'bo', lat: 1, lon: 2, tst: 1_709_283_789 }

  test('a line without a topic gets the device from the path, not from its two-letter tid', async () => {
    const bytes = Buffer.from(rec(at) + rec({ ...at, topic: 'owntracks/jane/phone' }))
    const devices = async (path?: string) => {
      const { found } = await readHistoryAt(path, bytes)
      return found.map((item) => (item.kind === 'point' ? item.point.deviceId : item))
    }
    const kept = '/var/spool/owntracks/recorder/store/rec/bob/tablet/2024-03.rec'
    expect(await devices(kept)).toEqual(['bob/tablet', 'jane/phone'])
    expect(await devices('/home/bob/Downloads/2024-03.rec')).toEqual([undefined, 'jane/phone'])
    expect(await devices()).toEqual([undefined, 'jane/phone'])
  })

  test('is recognised although its first lines are unusual', async () => {
    for (const first of ['\n', 'x\n', '2024-03-01T09:03:09Z\tlwt  \tgone\n', '\u0000\n']) {
      const { format, found } = await readHistory(Buffer.from(first + rec(at)))
      expect([format, found.at(-1)]).toMatchObject(['owntracks-rec', { kind: 'point' }])
    }
  })

  test('an invalid line is reported by its number', async () => {
    const { found } = await readHistory(history('2024-03.rec'), Buffer.from('\nnothing\n'))
    expect(found.at(-1)).toMatchObject({ kind: 'broken', place: 7 })
  })
})

describe('Traccar', () => {
  test('positions read the same as forwarded by Traccar, under its device numbers', async () => {
    const { found } = await readHistory(history('traccar-positions.json'))
    expect(asReports(found)).toMatchObject([
      {
        deviceId: '7',
        latitude: 52.52,
        longitude: 13.405,
        timestamp: '2024-05-01T06:00:00.000Z',
        accuracy: 5,
        altitude: 34,
        speed: 11.11199,
        heading: 90,
        battery: 0.87,
        attributes: {
          alarm: 'overspeed',
          ignition: true,
          motion: true,
          odometer: 104233.4,
          satellites: 9,
        },
      },
      { deviceId: '8' },
      { deviceId: '9' },
    ])
  })

  test('a row of the CSV report reads the same with any commas and quotes in its address', async () => {
    const { found } = await readHistory(history('traccar-route.csv'))
    const [first] = asReports((await readHistory(history('traccar-positions.json'))).found)
    const attributes = { driverUniqueId: '00123', ignition: true, odometer: 104233.4 }
    expect(asReports(found)[0]).toEqual({ ...(first as object), attributes })
    expect(asReports(found)[1]).toMatchObject({ attributes: { odometer: 104240 } })
    expect(found.map(({ place }) => place)).toEqual([2, 3])
  })

  test('a row without a fix is not a position, as when Traccar forwards it', async () => {
    const header = 'deviceId,fixTime,outdated,valid,latitude,longitude'
    const row = (outdated: boolean, valid: boolean) =>
      `7,2024-05-01T06:00:00Z,${outdated},${valid},52.5,13.4\n`
    const text = `${header}\n${row(false, true)}${row(true, true)}${row(false, false)}`
    expect(await reportsInText(text)).toEqual([
      expect.objectContaining({ latitude: 52.5 }),
      'entries without a position',
      'entries without a position',
    ])
    expect((await reportsInText(text))[0]).not.toHaveProperty('attributes')
  })
})

describe('GPX', () => {
  test('each track from PhoneTrack is a device', async () => {
    const { found } = await readHistory(history('phonetrack.gpx'))
    expect(asReports(found)).toMatchObject([
      {
        deviceId: 'jane',
        latitude: 47.544715,
        longitude: -2.944336,
        altitude: 12.5,
        speed: 1.25,
        heading: 90,
        accuracy: 4,
        battery: 0.85,
        attributes: { satellites: 7 },
        timestamp: '2024-05-01T10:29:41.000Z',
      },
      { deviceId: 'joe', latitude: 50.063003, timestamp: '2024-05-01T10:29:45.000Z' },
    ])
  })

  test('the name of any other track is not a device, and points without a time are skipped', async () => {
    const { found } = await readHistory(history('../tracks/ridge-walk.gpx'))
    const texts = asReports(found)
    expect(texts[0]).toMatchObject({ deviceId: 'given' })
    expect(found[texts.indexOf(NO_TIMESTAMP.message)]?.place).toBe(68)
  })
})

describe('our own exports', () => {
  test('a device named like the start of another format does not change the format', async () => {
    const csv = 'deviceId,latitude,longitude,timestamp\n<gpx>,1,2,2024-01-01T00:00:00Z\n'
    expect(await reportsInText(csv)).toMatchObject([{ deviceId: '<gpx>' }])
  })

  test('a CSV row reads the same as an NDJSON line', async () => {
    const [fromCsv] = asReports((await readHistory(history('own.csv'))).found)
    expect(fromCsv).toMatchObject({
      deviceId: 'van 7',
      battery: 0.5,
      heading: 270,
      attributes: { ignition: true, note: 'a;=1' },
    })
    expect(asReports((await readHistory(history('own.ndjson'))).found)).toEqual([fromCsv])
  })

  test('apostrophes that guard texts from spreadsheets are removed, others stay', async () => {
    const [, formula] = asReports((await readHistory(history('own.csv'))).found)
    expect(formula).toMatchObject({ deviceId: '=1;+2', latitude: -52.5, longitude: -13.5 })
    const header = 'deviceId,latitude,longitude,timestamp'
    const row = (id: string) => `${header}\n"${id}",1,2,2024-01-01T00:00:00Z\n`
    for (const [written, id] of [
      ["''=1", "'=1"],
      ["'a", "'a"],
      ["a'=1", "a'=1"],
      ["a;''+1;'b", "a;'+1;'b"],
    ] as const) {
      expect(await reportsInText(row(written))).toMatchObject([{ deviceId: id }])
    }
  })
})
