import { describe, expect, test } from '@jest/globals'
import { history, readHistory, asReports, reportsInText } from './read-history.ts'

const reportsOfFile = async (file: string) => asReports((await readHistory(history(file))).found)
const gpxOf = (point: string, creator = 'x') =>
  `<gpx creator="${creator}"><trk><name>bike</name><trkseg>${point}</trkseg></trk></gpx>`
const TIME = '<time>2024-01-01T00:00:00Z</time>'

describe('extensions by other programs', () => {
  test("never replace a point's time, elevation and speed", async () => {
    expect(await reportsOfFile('ext-time.gpx')).toMatchObject([
      { latitude: 1, longitude: 1, altitude: 5, timestamp: '2015-06-17T13:44:47.000Z' },
      { latitude: 1, longitude: 2, altitude: 5, timestamp: '2015-06-17T13:44:48.000Z' },
    ])
    const foreign = '<x:time>1</x:time><x:ele>2</x:ele><x:speed>3</x:speed>'
    const own = `<ele>5</ele>${TIME}<speed>6</speed>`
    for (const inside of [
      `${own}<extensions>${foreign}</extensions>`,
      `<extensions>${foreign}</extensions>${own}`,
      `${own}${foreign}`,
      `${foreign}${own}`,
      `${own}<extensions><y xmlns="urn:y"><time>1</time><ele>2</ele></y></extensions>`,
      `${own}<ele xmlns="urn:y">2</ele>`,
    ]) {
      const point = `<trkpt lat="1" lon="2" xmlns:x="urn:x">${inside}</trkpt>`
      expect(await reportsInText(gpxOf(point))).toMatchObject([{ altitude: 5, speed: 6 }])
    }
  })

  test('of OsmAnd have the heading as bearing, which is not an attribute', async () => {
    const [comma, point] = await reportsOfFile('osmand-bearing.gpx')
    expect(comma).toMatchObject({ latitude: 49.978498886, speed: 1.5, attributes: { hdop: 3.8 } })
    expect(comma).not.toHaveProperty('heading')
    expect(point).toMatchObject({ heading: 274.1, attributes: { hdop: 3.8 } })
    for (const one of [comma, point]) expect(one).not.toHaveProperty('attributes.bearing')
  })

  test('have known attributes in their types', async () => {
    const inside =
      '<ignition>OFF</ignition><motion>on</motion><alarm>7</alarm><note>7</note><odometer>7.0</odometer>'
    const point = `<trkpt lat="1" lon="2">${TIME}<extensions>${inside}</extensions></trkpt>`
    expect(await reportsInText(gpxOf(point))).toMatchObject([
      { attributes: { ignition: false, motion: true, alarm: '7', note: 7, odometer: 7 } },
    ])
  })

  test('of Garmin have the temperature as a number, with any decimals', async () => {
    const inside = (text: string) =>
      `<extensions><x:Ext xmlns:x="urn:x"><x:atemp>${text}</x:atemp><x:hr>92</x:hr></x:Ext></extensions>`
    for (const [text, temperature] of [
      ['21.0', 21],
      ['14.400000', 14.4],
      ['-3.50', -3.5],
    ] as const) {
      const point = `<trkpt lat="1" lon="2">${TIME}${inside(text)}</trkpt>`
      expect(await reportsInText(gpxOf(point))).toMatchObject([
        { attributes: { temperature, hr: 92 } },
      ])
    }
  })

  test('of Apple Health have the accuracies, where -1 means unknown', async () => {
    const point = (inside: string) =>
      `<trkpt lat="1" lon="2">${TIME}<extensions><speed>-1.0</speed>${inside}</extensions></trkpt>`
    const at = {
      deviceId: 'given',
      latitude: 1,
      longitude: 2,
      timestamp: '2024-01-01T00:00:00.000Z',
    }
    for (const [inside, expected] of [
      [
        '<hAcc>1.486173</hAcc><vAcc>1.163164</vAcc>',
        { accuracy: 1.486173, attributes: { verticalAccuracy: 1.163164 } },
      ],
      ['<hAcc>5.0</hAcc><vAcc>-1.0</vAcc>', { accuracy: 5 }],
      [
        '<hAcc>-1</hAcc><verticalAccuracy>3.0</verticalAccuracy>',
        { attributes: { verticalAccuracy: 3 } },
      ],
    ] as const) {
      expect(await reportsInText(gpxOf(point(inside)))).toEqual([{ ...at, ...expected }])
    }
  })
})

test('an export of an earlier version, without attribute types, is still read', async () => {
  const attributes = '<gps:alarm>7</gps:alarm><gps:ele>9</gps:ele><gps:on>true</gps:on>'
  const point = `<trkpt lat="1" lon="2"><ele>5</ele>${TIME}<extensions>
<gpxtpx:TrackPointExtension>
<gpxtpx:speed>3</gpxtpx:speed>
</gpxtpx:TrackPointExtension>
<gps:attributes>
${attributes}
</gps:attributes>
<gps:imported>true</gps:imported></extensions></trkpt>`
  expect(await reportsInText(gpxOf(point, 'gps-position-ingestion'))).toEqual([
    {
      deviceId: 'bike',
      latitude: 1,
      longitude: 2,
      altitude: 5,
      speed: 3,
      timestamp: '2024-01-01T00:00:00.000Z',
      attributes: { alarm: '7', ele: 9, on: true },
    },
  ])
})

test('white space before the XML declaration changes only line numbers', async () => {
  const { found } = await readHistory(history('leading-newline.gpx'))
  expect(asReports(found)).toMatchObject([
    { latitude: 48.1, timestamp: '2008-05-01T10:00:00.000Z' },
  ])
  expect(found[0]?.place).toBe(3)
})

test('waypoints and routes are counted separately', async () => {
  expect(await reportsOfFile('way-points.gpx')).toEqual(['way points', 'points of routes'])
})
