import { expect, test } from '@jest/globals'
import { eventually } from '../../eventually.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite, deviceRow } from './console-harness.ts'
import { dayName } from './day-name.ts'

const HOUR = 3_600_000
const at = (ago: number) => new Date(Date.now() - ago).toISOString()
/** A past day, so that a test may run across midnight. */
const YESTERDAY = at(24 * HOUR).slice(0, 10)
const atNoon = (secondsLater: number) =>
  new Date(Date.parse(`${YESTERDAY}T12:00:00Z`) + secondsLater * 1_000).toISOString()

describeConsole('the page of a device', () => {
  const suite = consoleSuite()

  test('a device’s page shows its last position, in the chosen zone and UTC, and a day at a time', async () => {
    await suite.report(
      { deviceId: 'van/1', latitude: 48.2, longitude: 16.4, timestamp: at(48 * HOUR) },
      { deviceId: 'van/1', latitude: 48.3, longitude: 16.5, timestamp: at(3_000), heading: 0 },
    )
    const page = await suite.signedIn('/devices/van%2F1', { timezoneId: 'Asia/Kathmandu' })
    const card = page.getByRole('region', { name: 'Now' })
    await card.getByText('48.30000, 16.50000').waitFor()
    expect(await card.textContent()).toMatch(/Time.*UTC\+05:45UTC/)
    expect(await card.textContent()).toMatch(/Delay\d+ s.*Heading0°/)
    const geo = card.getByRole('link', { name: 'Open in an app' })
    expect(await geo.getAttribute('href')).toBe('geo:48.3,16.5')

    await page.getByRole('button', { name: 'Previous day' }).click()
    await page.getByText('No reports on this day').waitFor()
    await page.getByRole('button', { name: 'Previous day' }).click()
    await page
      .getByRole('region', { name: 'Track' })
      .getByText('1 report', { exact: false })
      .waitFor()
    expect(new URL(page.url()).searchParams.get('day')).toMatch(/^\d{4}-\d\d-\d\d$/)
    const gpx = page.getByRole('link', { name: 'GPX' })
    const { status, body } = await page
      .evaluate(
        `fetch(${JSON.stringify(await gpx.getAttribute('href'))}).then(async (answer) => ({ status: answer.status, body: await answer.text() }))`,
      )
      .then((answer) => answer as { status: number; body: string })
    expect(status).toBe(200)
    expect(body).toContain('lat="48.2"')
    expect(body).not.toContain('lat="48.3"')
    await page.getByLabel('Export which reports').selectOption('All reports')
    const address = new URL((await gpx.getAttribute('href')) ?? '', suite.url)
    expect([...address.searchParams.keys()]).toEqual(['format'])
  })

  test('a device’s page shows the time of its last position only once if the chosen zone is UTC', async () => {
    await suite.report({ deviceId: 'van-8', latitude: 48.3, longitude: 16.5 })
    const page = await suite.signedIn('/devices/van-8', { timezoneId: 'UTC' })
    const card = page.getByRole('region', { name: 'Now' })
    await card.waitFor()
    expect(await card.getByRole('term').allTextContents()).toEqual(['Time', 'Delay'])
  })

  test('a device’s page focuses its heading on arrival, and so does the map after Back', async () => {
    await suite.report({ deviceId: 'van-8', latitude: 48.3, longitude: 16.5 })
    const page = await suite.signedIn('/?device=van-8')
    const focused = () => page.evaluate<string>('document.activeElement.textContent.trim()')
    await page.getByRole('link', { name: 'History and settings' }).click()
    await page.getByRole('heading', { name: 'van-8' }).waitFor()
    await eventually(async () => (await focused()) === 'van-8')
    await page.goBack()
    await eventually(async () => (await focused()) === 'Map')
  })

  test('a device is renamed, disabled and enabled on its page', async () => {
    await suite.report({ deviceId: 'van-2', latitude: 1, longitude: 2 })
    const page = await suite.signedIn('/devices/van-2')
    await page.getByRole('button', { name: 'Settings' }).click()
    await page.getByRole('button', { name: 'Edit' }).click()
    const dialog = page.getByRole('dialog', { name: 'Edit device' })
    await dialog.getByRole('textbox', { name: 'Name' }).fill('North')
    await dialog.getByLabel('Reporting interval in seconds').fill('-1')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('Reporting interval in seconds must be', { exact: false }).waitFor()
    await dialog.getByLabel('Reporting interval in seconds').fill('60')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'North' }).waitFor()
    await page.getByRole('button', { name: 'Settings' }).click()
    await page.getByRole('button', { name: 'Disable' }).click()
    await page.getByRole('button', { name: 'Enable', exact: true }).waitFor()
    await page.getByRole('link', { name: 'To the map' }).click()
    await deviceRow(page, 'North').getByText('disabled').first().waitFor()
  })

  test('a device is erased only once its id is typed', async () => {
    await suite.report({ deviceId: 'van-3', latitude: 1, longitude: 2 })
    const page = await suite.signedIn('/devices/van-3')
    await page.getByRole('button', { name: 'Settings' }).click()
    await page.getByRole('button', { name: 'Erase…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Erase device' })
    await dialog.getByRole('textbox').fill('van-')
    await dialog.getByRole('button', { name: 'Erase for good' }).click()
    await dialog.getByText('This is not the id of the device').waitFor()
    expect((await suite.call('GET', '/devices/van-3')).status).toBe(200)
    await dialog.getByRole('textbox').fill('van-3')
    await dialog.getByRole('button', { name: 'Erase for good' }).click()
    await page.getByRole('status').getByText('Device erased').waitFor()
    await deviceRow(page, 'van-3').waitFor({ state: 'hidden' })
    await page.goto(`${suite.url}/devices/van-3`)
    await page.getByText('There is no such device').waitFor()
  })

  test('a device’s page says so when another operator erases the device', async () => {
    await suite.report({ deviceId: 'van-6', latitude: 1, longitude: 2 })
    const page = await suite.signedIn('/devices/van-6')
    await page.getByRole('region', { name: 'Now' }).waitFor()
    expect((await suite.call('DELETE', '/devices/van-6')).status).toBe(202)
    await page.getByText('There is no such device').waitFor()
  })

  test.each([
    ['2026-03-29', 'Europe/Vienna', 23, '23:00:00'],
    ['2026-10-25', 'Europe/Vienna', 25, '23:00:00'],
    ['2026-10-25', 'UTC', 24, '23:00:00'],
  ])('%s in %s has %d hours', async (day, timezoneId, hours, last) => {
    const begin = Date.parse(`${day}T00:00:00Z`) - 3 * HOUR
    const reports = Array.from({ length: 30 }, (_, index) => ({
      deviceId: `clock ${day}`,
      latitude: 48 + index / 100,
      longitude: 16,
      timestamp: new Date(begin + index * HOUR).toISOString(),
    }))
    await suite.report(...reports)
    const path = `/devices/${encodeURIComponent(`clock ${day}`)}?day=${day}`
    const page = await suite.signedIn(path, { timezoneId })
    const track = page.getByRole('region', { name: 'Track' })
    await track.getByText(`${hours} reports`).waitFor()
    expect(await page.getByLabel('Go to a time').inputValue()).toBe(last)
    await page.getByRole('button', { name: `${dayName(day)}: ${hours} reports` }).waitFor()
  })

  test('a device’s page moves one time cursor for map, plots and table', async () => {
    const reports = Array.from({ length: 60 }, (_, index) => ({
      deviceId: 'van-4',
      latitude: 48 + index / 1_000,
      longitude: 16,
      timestamp: atNoon(index),
      speed: index,
      altitude: 100 + index,
    }))
    await suite.report(...reports)
    const page = await suite.signedIn(`/devices/van-4?day=${YESTERDAY}`, { timezoneId: 'UTC' })
    const cursor = page.getByRole('slider', { name: 'Time' })
    await cursor.waitFor()
    await cursor.press('Home')
    await page.getByText('Table', { exact: true }).click()
    const here = page.getByRole('table').getByRole('button', { pressed: true })
    expect(await here.textContent()).toBe(await page.getByLabel('Go to a time').inputValue())
    // The labels span a minute: with only hours and minutes they would all be equal.
    const marks = await page.locator('.time-plot text').allTextContents()
    const times = marks.filter((text) => /^\d\d:\d\d/.test(text))
    expect(times.length).toBeGreaterThan(3)
    expect(times.filter((text) => !/^\d\d:\d\d:\d\d$/.test(text))).toEqual([])
    await page.getByRole('combobox', { name: 'Replay speed' }).selectOption('600')
    const before = await cursor.inputValue()
    await page.getByRole('button', { name: 'Play', exact: true }).click()
    await page.getByRole('button', { name: 'Play', exact: true }).waitFor()
    await eventually(async () => Number(await cursor.inputValue()) > Number(before))
  })

  test('the marks of a plot differ even if the speed hardly changes', async () => {
    const reports = Array.from({ length: 60 }, (_, index) => ({
      deviceId: 'van-12',
      latitude: 48 + index / 1_000,
      longitude: 16,
      timestamp: atNoon(index),
      speed: 9.435 + (index % 2) / 10_000,
    }))
    await suite.report(...reports)
    const page = await suite.signedIn(`/devices/van-12?day=${YESTERDAY}`, { timezoneId: 'UTC' })
    await eventually(async () => {
      const marks = await page.locator('.time-plot text').allTextContents()
      const speeds = marks.filter((text) => /^3[34](\.\d+)?$/.test(text))
      return speeds.length > 1 && speeds.every((text) => text.length < 5)
    })
  })

  test('a device’s page keeps its map from day to day, and fits it to each', async () => {
    const day = (ago: number, latitude: number, longitude: number) =>
      Array.from({ length: 20 }, (_, index) => ({
        deviceId: 'van-7',
        latitude: latitude + index / 1_000,
        longitude,
        timestamp: atNoon(index - (ago - 1) * 24 * 3_600),
      }))
    await suite.report(...day(2, -33, 151), ...day(1, 48, 16))
    const page = await suite.signedIn(`/devices/van-7?day=${YESTERDAY}`, { timezoneId: 'UTC' })
    const drawn = () =>
      eventually(() =>
        page.evaluate<boolean>(`(() => {
        const canvas = document.querySelector('.track-map .fleet-canvas')
        if (canvas === null || canvas.width === 0) return false
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
        return data.some((value) => value !== 0)
      })()`),
      )
    await drawn()
    await page.evaluate(`document.querySelector('.track-map').dataset.seen = 'yes'`)
    await page.getByRole('button', { name: 'Previous day' }).click()
    await page.waitForURL((url) => url.searchParams.get('day') !== YESTERDAY)
    await page.getByRole('slider', { name: 'Time' }).waitFor()
    await drawn()
    expect(await page.locator('.track-map').getAttribute('data-seen')).toBe('yes')
  })

  test('attributes have names and units on card, page and table, and are plotted', async () => {
    const attributes = { ignition: true, temperature: 21.5, doorOpen: '<b>left</b>' }
    // Any of several reports without a time, received together, may be the last.
    await suite.report(
      ...[attributes, { temperature: 22 }, attributes].map((told, index) => ({
        deviceId: 'van-10',
        latitude: 48.2 + index / 100,
        longitude: 16.4,
        timestamp: atNoon(index),
        attributes: told,
      })),
    )
    const page = await suite.signedIn('/?device=van-10', { timezoneId: 'UTC' })
    const card = page.getByRole('region', { name: 'Selected device' })
    await card.getByText('21.5 °C').waitFor()
    await page.goto(`${suite.url}/devices/van-10?day=${YESTERDAY}`)
    const last = page.getByRole('region', { name: /^At / })
    for (const text of ['Ignition', 'yes', 'Temperature', '21.5 °C', 'doorOpen', '<b>left</b>']) {
      await last.getByText(text, { exact: true }).waitFor()
    }
    await page.getByRole('combobox', { name: 'Another plot' }).selectOption('temperature')
    await page.getByRole('img', { name: 'Temperature, °C over time' }).waitFor()
    await page.getByText('Table', { exact: true }).click()
    const table = page.getByRole('table', { name: 'Points around the time cursor' })
    await table.getByText('Temperature 22 °C').waitFor()
    await page.reload()
    await page.getByRole('img', { name: 'Temperature, °C over time' }).waitFor()
  })

  test('the map credits OpenStreetMap with a link to its licence', async () => {
    await suite.report({ deviceId: 'van-9', latitude: 48.2, longitude: 16.4 })
    const page = await suite.signedIn()
    const url = `${suite.url}/map/none/{z}/{x}/{y}.png`
    await page.route('**/api/v1/console', async (route) => {
      const response = await route.fetch()
      const body = (await response.json()) as { data: object }
      const map = { name: 'Ours', kind: 'tiles', url, maxZoom: 19, seenBy: null }
      const maps = [{ ...map, attribution: '© OpenStreetMap contributors' }]
      await route.fulfill({ response, json: { ...body, data: { ...body.data, maps } } })
    })
    await page.goto(`${suite.url}/devices/van-9`)
    const credit = page.locator('.map-credits').getByRole('link', { name: 'OpenStreetMap' })
    expect(await credit.getAttribute('href')).toBe('https://www.openstreetmap.org/copyright')
    expect(await page.locator('.map-credits').textContent()).toContain('© OpenStreetMap contrib')
  })
})
