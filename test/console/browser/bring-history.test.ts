import { gzipSync } from 'node:zlib'
import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { history } from '../../schemas/formats/histories/read-history.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite } from './console-harness.ts'

const time = (minute: number) => new Date(Date.UTC(2024, 2, 1, 8, minute)).toISOString()

const gpx = (count: number) =>
  `<?xml version="1.0"?><gpx version="1.1" creator="Test"><trk><trkseg>${Array.from(
    { length: count },
    (_, n) => `<trkpt lat="${48 + n / 1_000}" lon="16.4"><time>${time(n)}</time></trkpt>`,
  ).join('')}</trkseg></trk></gpx>`

const csv = `deviceId,timestamp,latitude,longitude\r\n"tug ""A""",${time(0)},52.5,13.4\r\ntug-2,${time(1)},52.6,13.4\r\n`

const geoJson = JSON.stringify({
  type: 'FeatureCollection',
  features: [0, 1, 2].map((n) => ({
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [10 + n, 50] },
    properties: { timestamp: time(n), deviceId: 'bike' },
  })),
})

const file = (name: string, text: string | Buffer) => ({
  name,
  mimeType: 'application/octet-stream',
  buffer: Buffer.from(text),
})

describeConsole('bringing a history', () => {
  const suite = consoleSuite()

  async function opened(deviceId: string): Promise<Page> {
    const page = await suite.signedIn('/connect')
    page.setDefaultTimeout(15_000)
    await page.getByText('Bring a history').click()
    await page.getByLabel('Device of the files').fill(deviceId)
    return page
  }

  const choose = (page: Page, ...files: readonly ReturnType<typeof file>[]) =>
    page.getByLabel('Choose files').setInputFiles([...files])

  const countOf = async (deviceId: string) => {
    const { body } = await suite.call('GET', `/devices/${encodeURIComponent(deviceId)}`)
    return (body.data as { reportCount?: number } | undefined)?.reportCount
  }

  test('reads GPX in the browser, also compressed, counts and shows it on a map, and imports it once', async () => {
    const page = await opened('phone-1')
    await choose(page, file('walk.gpx.gz', gzipSync(gpx(2_500))))
    await page.getByText(/^2.?500 positions found/).waitFor()
    await page.getByRole('application', { name: 'Map of the files' }).waitFor()
    expect(await countOf('phone-1')).toBeUndefined()
    await page.getByRole('button', { name: /^Import 2.?500 positions/ }).click()
    await page.getByText(/^2.?500 positions imported/).waitFor()
    await eventually(async () => (await countOf('phone-1')) === 2_500)
    const { data } = (await suite.call('GET', '/devices/phone-1')).body as {
      data: { lastKeyId?: string; lastPosition: { imported?: boolean } }
    }
    expect([data.lastKeyId, data.lastPosition.imported]).toEqual([undefined, true])
    const keys = (await suite.call('GET', '/keys')).body as {
      data: { items: { name: string; status: string }[] }
    }
    const own = keys.data.items.filter(({ name }) => name === 'Import in the console')
    expect(own.map(({ status }) => status)).toEqual(['revoked'])
  })

  test('takes the devices named in CSV and GeoJSON, and says what it omits', async () => {
    const page = await opened('')
    await choose(page, file('a.csv', csv), file('b.geojson', geoJson), file('c.gpx', gpx(2)))
    await page.getByText('5 positions found').waitFor()
    await page.getByText('tug "A"').waitFor()
    await page.getByText('Omitted').click()
    await page.getByText('it names no device').waitFor()
    await page.getByRole('button', { name: 'Import 5 positions' }).click()
    await page.getByText('5 positions imported').waitFor()
    await eventually(async () => (await countOf('bike')) === 3 && (await countOf('tug "A"')) === 1)
  })

  test('reads FIT, TCX and KML, also damaged, and names what it cannot read, with what to do', async () => {
    const page = await opened('watch')
    const [fit, tcx, kml] = ['ride.fit', 'walk.tcx', 'walk.kml'].map((name) => history(name))
    const zip = Buffer.from('PK\x03\x04'.padEnd(30, '\0') + '[Content_Types].xml')
    await choose(
      page,
      file('ride.fit.gz', gzipSync(fit!)),
      file('cut.fit', fit!.subarray(0, -30)),
      file('walk.tcx', tcx!),
      file('walk.kml', kml!),
      file('report.xlsx', zip),
      file('Timeline Edits.json', '{"timelineEdits":[]}'),
    )
    await page.getByText('10 positions found').waitFor()
    await page.getByText('Omitted').click()
    await page.getByText('it is damaged: the rest is missing; read before: 1 elements').waitFor()
    await page.getByText('it is a workbook: save it as CSV').waitFor()
  })

  test('can be cancelled while sending, and started again without duplicates', async () => {
    const page = await opened('phone-2')
    let isHeld = true
    await page.route('**/imports/*/positions', async (route) => {
      if (isHeld) return undefined
      return route.continue()
    })
    await choose(page, file('walk.gpx', gpx(1_500)))
    await page.getByRole('button', { name: /^Import 1.?500 positions/ }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    isHeld = false
    await page.getByRole('button', { name: /^Import 1.?500 positions/ }).click()
    await page.getByText(/^1.?500 positions imported/).waitFor()
    await eventually(async () => (await countOf('phone-2')) === 1_500)
  })
})
