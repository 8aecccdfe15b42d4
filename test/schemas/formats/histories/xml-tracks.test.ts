import { describe, expect, test } from '@jest/globals'
import { readDamaged } from './read-damaged.ts'
import { asReports, history, readHistory, reportsInText } from './read-history.ts'

const fileReports = async (name: string) => asReports((await readHistory(history(name))).found)

describe('TCX', () => {
  test('track points have their coordinates, time, measurements and sensors', async () => {
    expect(await fileReports('walk.tcx')).toEqual([
      {
        deviceId: 'given',
        latitude: 48.2,
        longitude: 16.3,
        altitude: 180.5,
        speed: 2.5,
        timestamp: '2024-05-01T08:00:00.000Z',
        attributes: { cadence: 80, distance: 0, heart_rate: 92, power: 210 },
      },
      'track points without a position',
      {
        deviceId: 'given',
        latitude: 48.201,
        longitude: 16.301,
        timestamp: '2024-05-01T08:00:20.000Z',
      },
    ])
  })

  const point =
    '<a:Trackpoint><a:Time>2024-05-01T10:00:00+02:00</a:Time><a:Position><a:LatitudeDegrees>1</a:LatitudeDegrees>' +
    '<a:LongitudeDegrees>2</a:LongitudeDegrees></a:Position><a:Cadence>70</a:Cadence></a:Trackpoint>'
  const database = (inside: string) =>
    `<a:TrainingCenterDatabase xmlns:a="urn:a">${inside}</a:TrainingCenterDatabase>`

  test('with a prefix, on one line and after white space is read', async () => {
    const text = `\n  ${database(`<a:Activities>${point}${point}</a:Activities>`)}`
    const expected = {
      deviceId: 'given',
      latitude: 1,
      longitude: 2,
      timestamp: '2024-05-01T08:00:00.000Z',
      attributes: { cadence: 70 },
    }
    expect(await reportsInText(text)).toEqual([expected, expected])
  })

  test('the points of a course are planned', async () => {
    expect(await reportsInText(database(`<a:Courses>${point}</a:Courses>`))).toEqual([
      'points of courses',
    ])
  })

  test('a cut file yields the preceding points and says how much is missing', async () => {
    const text = database(`<a:Activities>${point.repeat(3)}&${point.repeat(4)}</a:Activities>`)
    const { items, error } = await readDamaged(Buffer.from(text))
    expect(items).toHaveLength(3)
    expect(String(error)).toContain('not well-formed XML at line 1')
  })
})

describe('KML', () => {
  const at = (latitude: number, longitude: number, timestamp: string, more: object = {}) => ({
    deviceId: 'given',
    latitude,
    longitude,
    timestamp,
    ...more,
  })

  test('tracks and points with a time are positions; lines and placemarks are not', async () => {
    expect(await fileReports('walk.kml')).toEqual([
      at(48.19, 16.29, '2024-05-01T07:59:00.000Z'),
      at(48.2, 16.3, '2024-05-01T08:00:00.000Z', { altitude: 180.5 }),
      at(48.201, 16.301, '2024-05-01T08:00:10.000Z', { altitude: 181 }),
      at(48.21, 16.31, '2024-05-01T09:00:00.000Z'),
      'times without a position',
      'lines and areas without times',
      'points without a time',
    ])
  })

  const times = '<when>2024-05-01T08:00:00Z</when><when>2024-05-01T08:00:10Z</when>'
  const places = '<gx:coord>16.3 48.2 0</gx:coord><gx:coord>16.4,48.3,7</gx:coord>'
  const values = (name: string, ...all: readonly string[]) =>
    `<gx:SimpleArrayData name="${name}">${all.map((one) => `<gx:value>${one}</gx:value>`).join('')}</gx:SimpleArrayData>`
  const track = (inside: string) =>
    `<kml xmlns:gx="urn:gx"><Placemark><TimeStamp/><gx:Track>${inside}</gx:Track></Placemark></kml>`

  test("a track's data applies to its points", async () => {
    const data = [
      values('speed', '2.5', ''),
      values('accuracy', '4.0', '5'),
      values('heart_rate', '92', '93'),
      values('temperature', '21.0', '-4.0'),
    ]
    const schema = `<ExtendedData><SchemaData schemaUrl="#s">${data.join('')}</SchemaData></ExtendedData>`
    const angles = '<gx:angles>90 0 0</gx:angles><gx:angles>91.5 0 0</gx:angles>'
    expect(await reportsInText(track(times + places + angles + schema))).toEqual([
      at(48.2, 16.3, '2024-05-01T08:00:00.000Z', {
        speed: 2.5,
        heading: 90,
        accuracy: 4,
        attributes: { heart_rate: 92, temperature: 21 },
      }),
      at(48.3, 16.4, '2024-05-01T08:00:10.000Z', {
        altitude: 7,
        heading: 91.5,
        accuracy: 5,
        attributes: { heart_rate: 93, temperature: -4 },
      }),
    ])
  })

  test("of a point has its data as attributes, and ignores a camera's time", async () => {
    const mark = (inside: string) =>
      `<kml><Placemark>${inside}<Point><coordinates>16.3,48.2</coordinates></Point></Placemark></kml>`
    const data =
      '<ExtendedData><Data name="note"><value>hot</value></Data><SchemaData><SimpleData name="speed">3</SimpleData></SchemaData></ExtendedData>'
    const time = '<TimeStamp><when>2024-05-01T08:00:00Z</when></TimeStamp>'
    expect(await reportsInText(mark(data + time))).toEqual([
      at(48.2, 16.3, '2024-05-01T08:00:00.000Z', { speed: 3, attributes: { note: 'hot' } }),
    ])
    expect(await reportsInText(mark(`<LookAt>${time}</LookAt>`))).toEqual(['points without a time'])
  })

  test('a track of KML 2.3 is read, and coordinates without a time are rejected', async () => {
    const text = `<kml><Track>${times}${places.replaceAll('gx:', '')}<coord>1 2 3</coord></Track></kml>`
    expect(await reportsInText(text)).toEqual([
      at(48.2, 16.3, '2024-05-01T08:00:00.000Z'),
      at(48.3, 16.4, '2024-05-01T08:00:10.000Z', { altitude: 7 }),
      expect.stringContaining('timestamp is required'),
    ])
  })

  test('of a cut track yields the preceding points', async () => {
    const { items, error } = await readDamaged(
      Buffer.from(track(times + places).replace('<gx:coord>16.4', '<gx:coord')),
    )
    expect(asReports(items)).toEqual([at(48.2, 16.3, '2024-05-01T08:00:00.000Z')])
    expect(String(error)).toContain('not well-formed XML')
  })
})
