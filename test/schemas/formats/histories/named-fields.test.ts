import { describe, expect, test } from '@jest/globals'
import { history, readHistory, asReports, reportsInText } from './read-history.ts'

const AT = { latitude: 52.1, longitude: 13.1, timestamp: '2019-05-21T08:47:00.000Z' }

describe("other programs' fields", () => {
  const TIMES = ['datetime', 'recorded_at', 'when', 'time', 'date', 'timestamp']

  test.each(TIMES)('have the time in %s, in CSV, NDJSON and GeoJSON', async (name) => {
    const fields = { [name]: '2019/05/21 10:47:00+02', ele: 7, ignition: 'OFF', alarm: '7' }
    const expected = { ...AT, altitude: 7, attributes: { alarm: '7', ignition: false } }
    const cells = Object.entries({ lat: 52.1, lon: 13.1, ...fields })
    const csv = [0, 1].map((part) => cells.map((cell) => cell[part]).join(',')).join('\n')
    expect(await reportsInText(csv)).toMatchObject([expected])
    const place = { latitude: 52.1, lng: 13.1 }
    expect(await reportsInText(JSON.stringify({ ...place, ...fields }))).toMatchObject([expected])
    const geometry = { type: 'Point', coordinates: [13.1, 52.1] }
    const feature = { type: 'Feature', geometry, properties: fields }
    expect(await reportsInText(JSON.stringify(feature))).toMatchObject([expected])
  })

  test.each([
    ['2019/05/21 10:47:00+02', 0],
    ['2019/05/21 10:47:00.250+0200', 250],
    ['2019/05/21 08:47:00', 0],
    ['2019-05-21 08:47:00 UTC', 0],
    ['2019-05-21 10:47:00 +0200', 0],
    ['2019-05-21 10:47:00+02:00', 0],
    ['1558428420', 0],
    ['21.05.2019 10:47:00+02:00', 0],
  ])('may have times like %s', async (written, more) => {
    const [point] = await reportsInText(`time,lat,lon\n${written},52.1,13.1\n`)
    const timestamp = AT.timestamp.replace('000Z', `${String(more).padStart(3, '0')}Z`)
    expect(point).toMatchObject({ ...AT, timestamp })
  })

  test.each(['2019/5/21 10:47', '21/05/2019 10:47:00', '2019/02/30 10:47:00'])(
    'that are times in another order, such as %s, are not guessed at',
    async (written) => {
      expect(await reportsInText(`time,lat,lon\n${written},52.1,13.1\n`)).toEqual([
        expect.stringContaining('timestamp must be an ISO 8601 date and time'),
      ])
    },
  )
})

describe('CSV', () => {
  const GPSLOGGER =
    'time,lat,lon,elevation,accuracy,bearing,speed,satellites,provider,hdop,vdop,pdop,geoidheight,' +
    'ageofdgpsdata,dgpsid,activity,battery,annotation,timestamp_ms,time_offset,distance,' +
    'starttimestamp_ms,profile_name,battery_charging'
  const ROW =
    '2019-05-21T08:47:00.000Z,52.1,13.1,78.5,4.5,184.2,5.5,16,gps,0.7,0.8,1.0,48.0,,,walking,85,,' +
    '1558428420000,2019-05-21T10:47:00.000+02:00,12.5,1558428400000,Default,false'
  const POINT = {
    ...AT,
    deviceId: 'given',
    altitude: 78.5,
    accuracy: 4.5,
    heading: 184.2,
    speed: 5.5,
    battery: 0.85,
    attributes: {
      activity: 'walking',
      battery_charging: false,
      distance: 12.5,
      geoidheight: 48,
      hdop: 0.7,
      pdop: 1,
      profile_name: 'Default',
      provider: 'gps',
      satellites: 16,
      vdop: 0.8,
    },
  }

  test('of GPSLogger is read, also with semicolons and decimal commas', async () => {
    const german = `${GPSLOGGER}\n${ROW}\n`
      .replaceAll(',', ';')
      .replaceAll(/(\d)\.(\d+)(?=;)/g, '$1,$2')
    expect(german).toContain(';52,1;13,1;78,5;')
    const { format } = await readHistory(Buffer.from(german))
    expect(format).toBe('csv')
    const [point] = await reportsInText(`${GPSLOGGER}\n${ROW}\n`)
    expect(JSON.parse(JSON.stringify(point))).toMatchObject({
      ...POINT,
      attributes: { ...POINT.attributes, pdop: expect.anything(), geoidheight: expect.anything() },
    })
    expect(await reportsInText(german)).toMatchObject([
      { ...AT, altitude: 78.5, heading: 184.2, battery: 0.85 },
    ])
  })

  test('may have its header after empty lines, in capitals, in quotes and with tabs', async () => {
    for (const header of [
      '\n\nlat,lon,time',
      ' \nLat,Lon,Time',
      '"LAT","LON","TIME"',
      'lat\tlon\ttime',
    ]) {
      const separator = header.includes('\t') ? '\t' : ','
      const row = ['52.1', '13.1', AT.timestamp].join(separator)
      expect(await reportsInText(`${header}\n${row}\n${separator}${separator}\n`)).toMatchObject([
        AT,
      ])
    }
  })

  test("of our exports yields no attributes for the device's name and labels", async () => {
    const [point] = asReports((await readHistory(history('own.csv'))).found)
    expect(point).toMatchObject({ attributes: { ignition: true, note: 'a;=1' } })
    expect(Object.keys((point as { attributes: object }).attributes)).toHaveLength(2)
  })

  test('may name its separator in a first line, as Excel does', async () => {
    const header = 'latitude;longitude;timestamp;speed'
    for (const first of ['sep=;', '"sep=;"', '\ufeffSEP=;']) {
      const { found } = await readHistory(
        Buffer.from(`${first}\r\n${header}\r\n52,1;13,1;${AT.timestamp};12,5\r\n`),
      )
      expect(asReports(found)).toEqual([{ deviceId: 'given', ...AT, speed: 12.5 }])
      expect(found[0]?.place).toBe(3)
    }
    expect(await reportsInText(`sep=|\nlat|lon|time\n52.1|13.1|${AT.timestamp}\n`)).toMatchObject([
      AT,
    ])
    const tabs = `sep=\t\nlat\tlon\ttime\n52.1\t13.1\t${AT.timestamp}\n`
    expect(await reportsInText(tabs)).toMatchObject([AT])
  })

  test.each([
    ['Date,Time', '2019-05-21,08:47:00'],
    ['date,time', '2019/05/21,8:47'],
    ['TIME,DATE', '10:47:00.000+02:00,2019-05-21'],
    ['UTC Date,UTC Time', '20190521,084700'],
    ['gps_date,gps_time', '2019-05-21,08:47:00Z'],
    ['Date,Time', '21.05.2019,08:47'],
  ])('may have date and time in two columns: %s', async (names, cells) => {
    const text = `${names},lat,lon\n${cells},52.1,13.1\n`
    expect(await reportsInText(text)).toEqual([{ deviceId: 'given', ...AT }])
  })

  test('with a complete time in one of two such columns uses that column', async () => {
    const text = `date,time,lat,lon\n2001-01-01,${AT.timestamp},52.1,13.1\n`
    expect(await reportsInText(text)).toEqual([{ deviceId: 'given', ...AT }])
    const [fault] = await reportsInText('date,time,lat,lon\n21/05/2019,08:47:00,52.1,13.1\n')
    expect(fault).toContain('timestamp must be an ISO 8601 date and time')
  })

  test("of GeoPulse has km/h and percent, under the device's name", async () => {
    const { found } = await readHistory(history('geopulse.csv'))
    expect(asReports(found)).toEqual([
      {
        deviceId: 'tablet',
        latitude: 52.225,
        longitude: 13.332,
        accuracy: 10,
        altitude: 36.5,
        speed: 10,
        battery: 0.01,
        timestamp: '2024-03-01T09:03:09.000Z',
        attributes: { source_type: 'OWNTRACKS' },
      },
      {
        deviceId: 'tablet',
        latitude: 52.226,
        longitude: 13.333,
        timestamp: '2024-03-01T09:03:19.000Z',
        attributes: { source_type: 'GPX' },
      },
    ])
    const properties = { velocity: 36, battery: 93, deviceId: 'tablet', sourceType: 'OVERLAND' }
    const geometry = { type: 'Point', coordinates: [13.1, 52.1] }
    const timed = { ...properties, timestamp: AT.timestamp }
    expect(
      await reportsInText(JSON.stringify({ type: 'Feature', geometry, properties: timed })),
    ).toMatchObject([{ deviceId: 'tablet', speed: 10, battery: 0.93 }])
  })
})

describe('fields named like ours', () => {
  const own = { deviceId: 'van', ...AT }
  const more = { temperature: -12.5, ignition: false, driver: 'Ben', tank: 7, name: 'Tour 3' }
  const geometry = { type: 'Point', coordinates: [13.1, 52.1] }
  const csv = (fields: object) =>
    `${Object.keys(fields).join(',')}\n${Object.values(fields).join(',')}\n`

  test.each([
    ['CSV', csv({ ...own, ...more, temperature: '-12.50' })],
    ['NDJSON', JSON.stringify({ ...own, ...more })],
    [
      'GeoJSON',
      JSON.stringify({
        type: 'Feature',
        geometry,
        properties: { deviceId: 'van', timestamp: AT.timestamp, ...more },
      }),
    ],
  ])('leave other fields as typed attributes, in %s', async (_format, text) => {
    expect(await reportsInText(text)).toEqual([{ ...own, attributes: more }])
  })

  test('have other common names too: velocity, course, device_id, hAcc', async () => {
    const { deviceId: device_id, ...place } = own
    const fields = { ...place, device_id, velocity: 3, course: 90, hAcc: 4, vAcc: -1, battery: 85 }
    for (const text of [csv(fields), JSON.stringify(fields)]) {
      expect(await reportsInText(text)).toEqual([
        { ...own, speed: 3, heading: 90, accuracy: 4, battery: 0.85 },
      ])
    }
  })

  test('are named as one word if a column cannot be an attribute', async () => {
    const text = csv({ ...own, 'Fuel level (l)': 7.5, '"Door, left"': true })
    expect(await reportsInText(text)).toEqual([
      { ...own, attributes: { doorLeft: true, fuelLevelL: 7.5 } },
    ])
  })

  test('in our exports keep an additional column', async () => {
    const text = csv({ recordId: 'x', ...own, name: 'Van', labels: '', driver: 'Ann' })
    expect(await reportsInText(text)).toEqual([{ ...own, attributes: { driver: 'Ann' } }])
  })
})

test('NDJSON is recognised although its first line is damaged', async () => {
  const { format, found } = await readHistory(Buffer.from(`{"lat\n${JSON.stringify(AT)}\n`))
  expect(format).toBe('ndjson')
  expect(asReports(found)).toEqual(['the line must be a JSON object', { deviceId: 'given', ...AT }])
})
