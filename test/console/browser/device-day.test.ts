import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { faultsInLooks } from './access-faults.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite } from './console-harness.ts'
import { dayName } from './day-name.ts'

const DAY_MS = 86_400_000
const TODAY = Math.floor(Date.now() / DAY_MS) * DAY_MS
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)
const YESTERDAY = dayOf(TODAY - DAY_MS)
const UTC = { timezoneId: 'UTC' }

describeConsole('a day of a device', () => {
  const suite = consoleSuite()

  /** Drives east along the equator, a report every `step` seconds, and reaches 01:00 after 3600. */
  async function drive(
    deviceId: string,
    { count, step, begin = TODAY - DAY_MS }: { count: number; step: number; begin?: number },
  ): Promise<void> {
    const reports = Array.from({ length: count }, (_, index) => ({
      deviceId,
      latitude: 0,
      longitude: 10 + (index * step) / 3_600,
      accuracy: 4,
      speed: index * step < 1_800 ? 10 : 20,
      heading: 90,
      attributes: { fuel: index },
      timestamp: new Date(begin + index * step * 1_000).toISOString(),
    }))
    for (let at = 0; at < count; at += 1_000) await suite.report(...reports.slice(at, at + 1_000))
  }

  const heading = (page: Page, time: string) =>
    page.getByRole('heading', { name: `At ${time}`, exact: true }).waitFor()
  const asked = (page: Page, name: string) => new URL(page.url()).searchParams.get(name)

  test('a day that is being typed stays when a report arrives', async () => {
    await suite.report({ deviceId: 'van-0', latitude: 1, longitude: 1 })
    await eventually(async () => (await suite.call('GET', '/devices/van-0')).status === 200)
    const page = await suite.signedIn('/devices/van-0', UTC)
    const day = page.getByLabel('Day', { exact: true }).locator('input')
    await day.focus()
    await day.press('Backspace')
    expect(await day.inputValue()).toBe('')
    await suite.report({ deviceId: 'van-0', latitude: 2.5, longitude: 1 })
    await page.getByText('2.50000, 1.00000').first().waitFor({ state: 'attached' })
    expect(await day.inputValue()).toBe('')
    await day.blur()
    expect(await day.inputValue()).toBe(dayOf(Date.now()))
  })

  test('a typed time is in the address, and is the same for everyone who opens that address', async () => {
    await drive('van-1', { count: 61, step: 60 })
    const page = await suite.signedIn(`/devices/van-1?day=${YESTERDAY}&at=00:05`, UTC)
    await heading(page, '00:05:00')
    const card = page.getByRole('region', { name: 'At 00:05:00' })
    expect(await card.textContent()).toMatch(/0\.00000, 10\.08333.*36 km\/h.*90°.*4 m.*Fuel5 l/)
    await page.getByLabel('Go to a time').fill('00:40:30')
    await page.getByLabel('Go to a time').press('Enter')
    await heading(page, '00:40:30')
    await page.getByRole('region', { name: 'At 00:40:30' }).getByText('72 km/h').waitFor()
    await page.getByText('30 s before, at 00:40:00').waitFor()
    await eventually(() => asked(page, 'at') === '00:40:30')
    const sent = page.url()
    await page.getByRole('button', { name: 'Previous day' }).click()
    await page.getByText('No reports on this day').waitFor()
    expect(asked(page, 'at')).toBeNull()
    await page.goBack()
    await heading(page, '00:40:30')
    const other = await suite.signedIn(sent.slice(suite.url.length), UTC)
    await heading(other, '00:40:30')
    const [osm, google] = ['OpenStreetMap', 'Google Maps'].map((where) =>
      other.getByRole('region', { name: 'At' }).getByRole('link', { name: `Open in ${where}` }),
    )
    expect(await osm?.getAttribute('href')).toContain('mlat=0&mlon=10.666')
    expect(await google?.getAttribute('href')).toContain('query=0,10.666')
  })

  test('while a day loads, only opacities and transforms are animated, which costs the main thread nothing', async () => {
    await drive('van-read', { count: 5, step: 60 })
    const page = await suite.signedIn(`/devices/van-read?day=${dayOf(TODAY - 2 * DAY_MS)}`, UTC)
    await page.getByText('No reports on this day').waitFor()
    await page.route('**/track?**', () => undefined)
    await page.getByRole('button', { name: 'Next day' }).click()
    await page.getByRole('status', { name: 'Loading the day' }).waitFor()
    const moving: string[] = await page.evaluate(`document.getAnimations()
      .filter(({ effect }) => effect.getTiming().iterations === Infinity)
      .flatMap(({ effect }) => effect.getKeyframes().flatMap(Object.keys))`)
    const aboutTime = ['offset', 'easing', 'composite', 'computedOffset']
    const properties = moving.filter((name) => !aboutTime.includes(name))
    expect(properties).not.toHaveLength(0)
    expect(properties.filter((name) => !['opacity', 'transform'].includes(name))).toEqual([])
  })

  test('speeds, heights and times are shown in the units and the clock that the operator chose', async () => {
    await drive('van-units', { count: 5, step: 60, begin: TODAY - DAY_MS + 46_800_000 })
    const page = await suite.signedIn(`/devices/van-units?day=${YESTERDAY}&at=13:02`, UTC)
    const moment = page.getByRole('region', { name: /^At / })
    await moment.getByText('36 km/h').waitFor()
    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByRole('combobox', { name: 'Speed unit' }).selectOption('mph')
    await page.getByRole('combobox', { name: 'Distance unit' }).selectOption('Feet, miles')
    await page.getByRole('combobox', { name: 'Clock' }).selectOption('12-hour')
    for (const isKept of [false, true]) {
      if (isKept) await page.reload()
      await page.getByRole('heading', { name: /^At 1:02:00\spm$/i }).waitFor()
      await moment.getByText('22 mph').waitFor()
      await moment.getByText('13 ft').waitFor()
    }
    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByRole('combobox', { name: 'Speed unit' }).selectOption('Knots')
    await moment.getByText('19 kn').waitFor()
  })

  test('arrow keys go from report to report, including reports that the line omits', async () => {
    await drive('van-2', { count: 3_000, step: 1 })
    const page = await suite.signedIn(`/devices/van-2?day=${YESTERDAY}&at=00:10`, UTC)
    await page.getByTitle(/^Omitted points/).waitFor()
    await page.getByText('Fuel', { exact: true }).first().waitFor()
    const fuel = () =>
      page
        .getByRole('region', { name: /^At / })
        .getByText(/^\d+ l$/)
        .textContent()
    await eventually(async () => (await fuel()) === '600 l')
    await page.getByText('Table', { exact: true }).click()
    // The reports beside the cursor are read once it rests.
    await page.getByRole('table').getByRole('button', { name: '00:10:01' }).waitFor()
    await page.getByRole('slider', { name: 'Time' }).press('ArrowRight')
    await heading(page, '00:10:01')
    expect(await fuel()).toBe('601 l')
    await page.getByRole('heading', { name: 'van-2' }).click()
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('ArrowLeft')
    await heading(page, '00:09:59')
    await eventually(async () => (await fuel()) === '599 l')
  })

  test('arrow keys just after a jump, while the cursor still moves, and while the address changes all count', async () => {
    await drive('van-7', { count: 3_000, step: 1 })
    const page = await suite.signedIn(`/devices/van-7?day=${YESTERDAY}&at=00:10`, UTC)
    await page.getByTitle(/^Omitted points/).waitFor()
    await heading(page, '00:10:00')
    /** Presses a key at each frame, from just after `first`, like a held key. */
    const hold = (key: string, times: number, first = '') =>
      page.evaluate(`(async () => {
        const slider = document.querySelector('.time-strip input')
        window.press = (key) => slider.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
        ${first}
        for (let n = 0; n < ${times}; n += 1) {
          await new Promise(requestAnimationFrame)
          press('${key}')
        }
      })()`)
    const jumpTo = Date.parse(`${YESTERDAY}T00:40:00Z`)
    const jump = `slider.value = ${jumpTo}; slider.dispatchEvent(new Event('input', { bubbles: true }))`
    await hold('ArrowRight', 3, jump)
    await heading(page, '00:40:03')
    await hold('ArrowLeft', 70)
    await heading(page, '00:38:53')
    await page.waitForURL((url) => url.searchParams.get('at') === '00:38:53')
    await hold(
      'ArrowLeft',
      1,
      `const replace = history.replaceState
       history.replaceState = (...args) => {
         history.replaceState = replace
         replace.apply(history, args)
         press('ArrowLeft')
       }`,
    )
    await page.waitForURL((url) => url.searchParams.get('at') === '00:38:51')
    await heading(page, '00:38:51')
  })

  test('a click on the track or on a plot selects that time', async () => {
    await drive('van-3', { count: 61, step: 60 })
    const page = await suite.signedIn(`/devices/van-3?day=${YESTERDAY}`, UTC)
    await heading(page, '01:00:00')
    const plot = await page.getByRole('img', { name: 'Speed, km/h' }).boundingBox()
    const [left = 0, width = 0] = [(plot?.x ?? 0) + 52, (plot?.width ?? 0) - 68]
    await page.mouse.click(left + width / 4, (plot?.y ?? 0) + 40)
    await page.getByRole('heading', { name: /^At 00:1[45]/ }).waitFor()
    const track = page.locator('.track-map')
    await track.hover()
    await eventually(() =>
      page.evaluate<boolean>(`document.querySelector('.map-target').style.cursor === 'pointer'`),
    )
    await track.click()
    // The buttons cover some of the right, so the middle of the track is left of the centre.
    await page.getByRole('heading', { name: /^At 00:3\d/ }).waitFor()
  })

  test('the marker of a past moment does not have the colour of a connection state', async () => {
    await drive('van-4', { count: 10, step: 2, begin: Date.now() - 30_000 })
    const page = await suite.signedIn('/devices/van-4', UTC)
    const greenPixels = () =>
      page.evaluate<number>(`(() => {
        const canvas = document.querySelector('.track-map .fleet-canvas')
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
        let count = 0
        for (let n = 0; n < data.length; n += 4)
          if (data[n] === 0x17 && data[n + 1] === 0x80 && data[n + 2] === 0x3f) count += 1
        return count
      })()`)
    await page.getByRole('slider', { name: 'Time' }).waitFor()
    await eventually(async () => (await greenPixels()) > 20)
    await page.getByRole('slider', { name: 'Time' }).press('ArrowLeft')
    await eventually(async () => (await greenPixels()) === 0)
  })

  test('a day without reports shows the last known position, its time, and a link there', async () => {
    await drive('van-5', { count: 2, step: 60, begin: Date.parse('2026-01-05T10:00:00Z') })
    const page = await suite.signedIn('/devices/van-5?day=2026-01-07', UTC)
    await page
      .getByText(
        /^No reports on this day\. Last known place: [^,]{3,}, 0\.00000, 10\.01667, Mon 5 Jan at 10:01:00\.$/,
      )
      .waitFor()
    await page.getByRole('link', { name: 'Open 5 Jan' }).click()
    await page.getByRole('heading', { name: 'Mon 5 Jan' }).waitFor()
    await heading(page, '10:01:00')
    await page.goto(`${suite.url}/devices/van-5?day=2025-12-31`)
    await page
      .getByText(/First known place: [^,]{3,}, 0\.00000, 10\.00000, Mon 5 Jan at 10:00:00\./)
      .waitFor()
  })

  test('the days are a single Tab stop, and arrow keys move between them', async () => {
    await drive('van-6', { count: 2, step: 60 })
    const page = await suite.signedIn(`/devices/van-6?day=${YESTERDAY}`, UTC)
    const days = page.getByRole('group', { name: 'Day' }).getByRole('listitem')
    const shown = days.getByRole('button', { name: `${dayName(YESTERDAY)}: 2 reports` })
    await shown.focus()
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('Enter')
    await page.waitForURL((url) => url.searchParams.get('day') === dayOf(TODAY - 2 * DAY_MS))
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Previous day')
  })

  test('a day fits and is accessible on a phone, at 200 % of a narrow window, and from right to left', async () => {
    const deviceId = 'a-device-with-a-very-long-name-that-nobody-would-choose-'.repeat(2)
    await drive(deviceId, { count: 61, step: 60 })
    const page = await suite.signedIn(`/devices/${deviceId}?day=${YESTERDAY}&at=00:30`, UTC)
    await heading(page, '00:30:00')
    const narrow = [
      ['light', 360],
      ['dark', 512],
    ] as const
    expect(await faultsInLooks(page, narrow)).toEqual([])
    await page.evaluate(`document.documentElement.dir = 'rtl'`)
    expect(await faultsInLooks(page, [['dark', 1_280]])).toEqual([])
  })
})
