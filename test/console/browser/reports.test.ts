import { readFile } from 'node:fs/promises'
import { beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { accessFaults } from './access-faults.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite, follow } from './console-harness.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** A zone in which it is noon, so that this week has begun hours ago. */
const ahead = 12 - new Date().getUTCHours()
const timezoneId = `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`
const today = Math.floor(Date.now() / HOUR) * HOUR
const sinceMonday = (new Date(today + ahead * HOUR).getUTCDay() + 6) % 7
const lastMonday = today - (sinceMonday + 7) * DAY

/** The date in that zone. */
const dayName = (ms: number) => new Date(ms + ahead * HOUR).toISOString().slice(0, 10)

describeConsole('the page of reports', () => {
  const suite = consoleSuite()

  /** Drives east for these minutes at 60 km/h before noon. */
  async function drive(deviceId: string, noon: number, minutes: number): Promise<void> {
    await suite.report(
      ...Array.from({ length: minutes + 1 }, (_, n) => ({
        deviceId,
        latitude: 0,
        longitude: 10 + n / 111.195,
        speed: 60 / 3.6,
        timestamp: new Date(noon - (180 - n) * MINUTE).toISOString(),
      })),
    )
  }

  beforeAll(async () => {
    await drive('van-1', today, 30)
    await drive('van-2', today, 90)
    await drive('van-3', today, 60)
    await drive('van-1', lastMonday, 60)
    await drive('van-1', lastMonday + DAY, 20)
    await drive('van-2', lastMonday + DAY, 30)
    await suite.call('PATCH', '/devices/van-2', { name: 'Lorry', labels: ['north'] })
    await suite.call('PATCH', '/devices/van-3', { labels: ['north'] })
  })

  /** The texts of the names and of another column, from top to bottom. */
  async function rows(page: Page, column: number): Promise<string[]> {
    const texts = await page.locator('tbody tr').all()
    return Promise.all(
      texts.map(async (row) => {
        const cells = row.getByRole('cell')
        return `${await cells.first().textContent()}: ${await cells.nth(column).textContent()}`
      }),
    )
  }

  async function saved(page: Page, button: string): Promise<string[]> {
    const downloaded = page.waitForEvent('download')
    await page.getByRole('button', { name: button }).click()
    return (await readFile(await (await downloaded).path(), 'utf8')).trim().split('\r\n')
  }

  test('the first row, two clicks from the map, is the device that drove most this week', async () => {
    const page = await suite.signedIn('/', { timezoneId })
    await follow(page, 'Reports')
    await page.getByRole('table', { name: 'Report by device' }).waitFor()
    expect(await rows(page, 1)).toEqual(['Lorry: 90.0 km', 'van-3: 60.0 km', 'van-1: 30.0 km'])
    const bars = await page.locator('.report-bar').all()
    const widths = await Promise.all(bars.map(async (bar) => (await bar.boundingBox())?.width ?? 0))
    expect(widths[1]! / widths[0]!).toBeCloseTo(60 / 90, 2)
    await page.getByText('3 devices · distance 180.0 km · driving 3 h ·').waitFor()
    await page.getByLabel('Order').selectOption('Distance, least first')
    expect(await rows(page, 1)).toEqual(['van-1: 30.0 km', 'van-3: 60.0 km', 'Lorry: 90.0 km'])
    await page.getByLabel('Order').selectOption('By name')
    expect(await rows(page, 2)).toEqual(['Lorry: 1.5 h', 'van-1: 0.5 h', 'van-3: 1 h'])
    await page.getByRole('link', { name: 'Lorry' }).click()
    await page.waitForURL(/devices\/van-2\?from=/)
  })

  test('last week is one click away, by day or label, and other days can be typed', async () => {
    const page = await suite.signedIn('/reports?sort=name', { timezoneId })
    await page.getByRole('button', { name: 'Last week' }).click()
    await page.getByText('distance 110.0 km').waitFor()
    await page.getByLabel('By', { exact: true }).selectOption('Day')
    await eventually(async () => (await rows(page, 1)).length === 2)
    expect(await rows(page, 1)).toEqual([
      expect.stringMatching(/^Mon .*: 60\.0 km$/),
      expect.stringMatching(/^Tue .*: 50\.0 km$/),
    ])
    await page.getByLabel('By', { exact: true }).selectOption('Label')
    await page.getByRole('table', { name: 'Report by label' }).waitFor()
    expect(await rows(page, 1)).toEqual(['No label: 80.0 km', 'north: 30.0 km'])
    await page.getByLabel('Label', { exact: true }).selectOption('north')
    await page.getByText('2 devices · distance 30.0 km').waitFor()
    await page.getByLabel('Label', { exact: true }).selectOption('All')
    const tuesday = dayName(lastMonday + DAY)
    await page.getByLabel('From', { exact: true }).fill(tuesday)
    await page.getByText('3 devices · distance 50.0 km').waitFor()
    await page.getByLabel('To', { exact: true }).fill(dayName(lastMonday - DAY))
    await page.getByText('From must not be after to').waitFor()
  })

  test('the report is saved in the reader’s units and zone; rules raised have a file of their own', async () => {
    await suite.made('/rules', { name: 'Over 50', when: { field: 'speed', above: 14 } })
    await eventually(async () => {
      await suite.report({ deviceId: 'van-3', latitude: 0, longitude: 11, speed: 20 })
      const { body } = await suite.call('GET', '/facts?type=rule.raised')
      return (body.data as { items: unknown[] }).items.length === 1
    })
    const page = await suite.signedIn('/reports?group=device-day', { timezoneId })
    await page.addInitScript(`localStorage.setItem('gps-console.speed', 'mph')
      localStorage.setItem('gps-console.length', 'feet')`)
    await page.reload()
    const [head, first] = await saved(page, 'Export as CSV')
    expect(head).toMatch(
      /^Name,Device id,From,To,"Distance, mi","Driving, h",Stops,"Top speed, mph",First start \(Etc/,
    )
    expect(first).toMatch(
      /^Lorry,van-2,(\d{4}-\d\d-\d\d),\1,55\.92,1\.5,0,37\.28,\1 09:00:00,\1 10:30:00,0,0$/,
    )
    const events = await saved(page, 'Rules raised as CSV')
    expect(events).toHaveLength(2)
    expect(events[1]).toMatch(/,van-3,van-3,Rule raised,Over 50,/)
  })

  test('a report is printed on one page, without buttons', async () => {
    const page = await suite.signedIn('/reports', { timezoneId })
    await page.getByRole('table').waitFor()
    const pdf = (await page.pdf({ preferCSSPageSize: true })).toString('latin1')
    expect(pdf.match(/\/Type \/Page\b/g)).toHaveLength(1)
    await page.emulateMedia({ media: 'print' })
    expect(await page.getByRole('button', { name: 'Print' }).isVisible()).toBe(false)
    expect(await page.getByRole('heading', { level: 2 }).isVisible()).toBe(true)
  })

  test('on a phone rows are cards, in the chosen order, and nothing is wider than the screen', async () => {
    const viewport = { width: 390, height: 844 }
    const page = await suite.signedIn('/reports', {
      timezoneId,
      viewport,
      isMobile: true,
      hasTouch: true,
    })
    await page.getByRole('table').waitFor()
    await page.getByText('Filter', { exact: true }).click()
    await page.getByLabel('Order').selectOption('Driving, most first')
    expect(await rows(page, 2)).toMatchObject(
      [/^Lorry/, /^van-3/, /^van-1/].map((name) => expect.stringMatching(name)),
    )
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    expect(await accessFaults(page)).toEqual([])
  })
})
