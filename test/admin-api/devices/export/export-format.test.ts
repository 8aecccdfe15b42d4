import { beforeAll, describe, expect, test } from '@jest/globals'
import { T0 } from '../../../samples.ts'
import { readHistory, asReports } from '../../../schemas/formats/histories/read-history.ts'
import { startAdmin, type AdminHarness } from '../../admin-harness.ts'
import { ofCsv, ofLines, ofXml } from './read-files.ts'

const FORMATS = ['geojson', 'gpx', 'csv', 'ndjson'] as const

let harness: AdminHarness
let headers: Record<string, string>

beforeAll(async () => {
  harness = await startAdmin()
  headers = await harness.createSession()
})

function file(format: string, deviceId: string) {
  const path = `/devices/${encodeURIComponent(deviceId)}/positions?format=${format}`
  return harness.api('GET', path, { headers })
}

describe('the name and labels of a device', () => {
  const NAME = '=Ferry; <1> & "2"'
  const LABELS = ['+night', 'a,b', 'south']

  async function namedDevice(deviceId: string, settings: object): Promise<void> {
    await harness.project({ deviceId }, { deviceId, timestamp: T0 + 1000 })
    const path = `/devices/${encodeURIComponent(deviceId)}`
    const { status } = await harness.api('PATCH', path, { headers, body: settings })
    expect(status).toBe(200)
  }

  beforeAll(() => namedDevice('ferry', { name: NAME, labels: LABELS }))

  test('are the last columns of each row in CSV, no formulas', async () => {
    const [header = [], ...rows] = ofCsv((await file('csv', 'ferry')).text)
    expect(header.slice(-2)).toEqual(['name', 'labels'])
    const cells = [`'${NAME}`, "'+night, a,b, south"]
    expect(rows.map((row) => row.slice(-2))).toEqual([cells, cells])
  })

  test('are on each line of NDJSON', async () => {
    const lines = ofLines((await file('ndjson', 'ferry')).text)
    const named = { deviceId: 'ferry', name: NAME, labels: LABELS }
    expect(lines).toMatchObject([named, named])
  })

  test('are members of the collection in GeoJSON', async () => {
    const collection = JSON.parse((await file('geojson', 'ferry')).text) as object
    expect(collection).toMatchObject({ type: 'FeatureCollection', name: NAME, labels: LABELS })
  })

  test('are the name and the keywords of a GPX file, whose track is named after the deviceId', async () => {
    const document = ofXml((await file('gpx', 'ferry')).text)
    const texts = (name: string) =>
      Array.from(document.getElementsByTagName(name), (node) => node.textContent)
    expect(texts('name')).toEqual([NAME, 'ferry'])
    expect(texts('keywords')).toEqual(['+night, a,b, south'])
    const children = Array.from(document.documentElement?.childNodes ?? [], (node) => node.nodeName)
    expect(children.filter((name) => name !== '#text')).toEqual(['metadata', 'trk'])
  })

  test('are each omitted where the device has none', async () => {
    await namedDevice('only name', { name: 'Tug' })
    await namedDevice('only label', { labels: ['x'] })
    const [named, labelled] = await Promise.all(
      ['only name', 'only label'].map(async (deviceId) => ({
        cells: ofCsv((await file('csv', deviceId)).text)[1]?.slice(-2),
        line: ofLines((await file('ndjson', deviceId)).text)[0],
        gpx: (await file('gpx', deviceId)).text,
      })),
    )
    expect([named?.cells, labelled?.cells]).toEqual([
      ['Tug', ''],
      ['', 'x'],
    ])
    expect(named?.line).not.toHaveProperty('labels')
    expect(labelled?.line).not.toHaveProperty('name')
    expect(named?.gpx).toContain('<metadata>\n<name>Tug</name>\n</metadata>\n<trk>')
    expect(labelled?.gpx).toContain('<metadata>\n<keywords>x</keywords>\n</metadata>\n<trk>')
    await harness.project({ deviceId: 'neither' })
    expect((await file('gpx', 'neither')).text).not.toContain('metadata')
  })

  test.each(FORMATS)('do not change what an import reads from %s', async (format) => {
    await harness.project({ deviceId: `plain ${format}`, attributes: { alarm: '=1' } })
    const read = async () => {
      const { text } = await file(format, `plain ${format}`)
      const { found, format: recognised } = await readHistory(Buffer.from(text))
      return { recognised, reports: asReports(found) }
    }
    const before = await read()
    expect(before).toMatchObject({ recognised: format, reports: [{ attributes: { alarm: '=1' } }] })
    const name = '"locations":[{"latitudeE7":1}]} <gpx creator="PhoneTrack"><trk>'
    await harness.api('PATCH', `/devices/plain%20${format}`, {
      headers,
      body: { name, labels: ['latitude,longitude,timestamp', '"timelinePath"'] },
    })
    expect((await file(format, `plain ${format}`)).text).toContain('timelinePath')
    expect(await read()).toEqual(before)
  })
})
