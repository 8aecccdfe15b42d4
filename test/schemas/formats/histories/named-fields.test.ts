import { describe, expect, test } from '@jest/globals'
import { history, readHistory, asReports, reportsInText } from './read-history.ts'

const AT = { latitude: 52.1, longitude: 13.1, timestamp: '2019-05-21T08:47:00.000Z' }

describe('fields of other programs', () => {
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
  ])('write times like %s', async (written, more) => {
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

  test('of our own leaves columns of other names out', async () => {
    const [point] = asReports((await readHistory(history('own.csv'))).found)
    expect(point).not.toHaveProperty('attributes.labels')
    const text = `deviceId,latitude,longitude,timestamp,tank\nvan,52.1,13.1,${AT.timestamp},7\n`
    expect(await reportsInText(text)).toEqual([{ deviceId: 'van', ...AT }])
  })
})

test('NDJSON is recognised although its first line is damaged', async () => {
  const { format, found } = await readHistory(Buffer.from(`{"lat\n${JSON.stringify(AT)}\n`))
  expect(format).toBe('ndjson')
  expect(asReports(found)).toEqual(['the line must be a JSON object', { deviceId: 'given', ...AT }])
})
