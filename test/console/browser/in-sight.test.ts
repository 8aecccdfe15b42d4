import { expect, test } from '@jest/globals'
import { describeConsole } from './chromium.ts'
import { connecting } from './connecting.ts'
import { consoleSuite } from './console-harness.ts'
import { fillMoment } from './fill-moment.ts'

describeConsole('important content is in sight', () => {
  const suite = consoleSuite()

  test('a bar of 56 px beside every step, even the QR code, shows the arrival of a device', async () => {
    const page = await connecting(suite, 'phone-anna', 'OwnTracks (Android)')
    const bar = page.getByRole('region', { name: 'Arrival' })
    await bar.getByText('Waiting for the first report').waitFor()
    const code = page.getByRole('img', { name: /^QR code that sets up OwnTracks/ })
    await code.scrollIntoViewIfNeeded()
    expect((await code.boundingBox())?.width).toBe(280)
    const box = await bar.boundingBox()
    expect(box?.height).toBe(56)
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(800)
    await suite.report({ deviceId: 'phone-anna', latitude: 48, longitude: 16 })
    await bar.getByText('has arrived').waitFor()
    const link = await bar.getByRole('link', { name: 'Show on map' }).boundingBox()
    expect((link?.y ?? 0) + (link?.height ?? 0)).toBeLessThanOrEqual(800)
  })

  test.each([
    ['en-US', 'It ends tomorrow 2:05 pm', '2:05 pm', /[A-Z][a-z]{2} \d+ – /],
    ['de', 'It ends tomorrow 14:05', '14:05', /\d+ (– \d+ )?[A-Z][a-z]{2}/],
  ])('a browser in %s gets its clock and its order of dates', async (locale, ends, time, week) => {
    await suite.report({ deviceId: 'clocked', latitude: 48, longitude: 16 })
    const page = await suite.signedIn('/shares?device=clocked', { locale, timezoneId: 'UTC' })
    const dialog = page.getByRole('dialog', { name: 'New link' })
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
    await dialog.getByLabel('Lasts').selectOption('Until a time …')
    for (const typed of ['2:05 pm', '14.05']) {
      await fillMoment(dialog, 'Expires', tomorrow, '9:00')
      await fillMoment(dialog, 'Expires', tomorrow, typed)
      await dialog.getByText(ends).waitFor()
      expect(await dialog.getByLabel('Expires, time of day').inputValue()).toBe(time)
    }
    await fillMoment(dialog, 'Expires', tomorrow, 'noon')
    expect(await dialog.getByLabel('Expires, time of day').inputValue()).toBe(time)
    await page.goto(`${suite.url}/devices/clocked?from=2026-03-02&to=2026-03-08`)
    expect(await page.locator('.day-words').textContent()).toMatch(week)
  })

  test('the time of an audit entry is complete in a window of 1024 px: the clock, and the date below it', async () => {
    const page = await suite.signedIn('/audit', { viewport: { width: 1024, height: 768 } })
    const time = page.getByRole('table', { name: 'Audit' }).getByRole('time').first()
    await time.waitFor()
    expect(await time.textContent()).toMatch(/^\d\d:\d\d:\d\d \d+ \w+$/)
    expect(await time.getAttribute('title')).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/)
    const [clock, cell] = [await time.boundingBox(), await time.locator('xpath=..').boundingBox()]
    expect(clock?.width ?? 0).toBeLessThanOrEqual(cell?.width ?? 0)
  })
})
