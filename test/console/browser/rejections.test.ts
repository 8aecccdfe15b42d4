import { expect, test } from '@jest/globals'
import { describeConsole } from './chromium.ts'
import { consoleSuite } from './console-harness.ts'
import { fillMoment } from './fill-moment.ts'

const MARKUP = '<img src=x onerror=alert(1)>'

describeConsole('rejections', () => {
  const suite = consoleSuite()

  test('a rejection appears on its page without a reload, as plain text', async () => {
    const { key } = await suite.made('/keys', { name: `Key ${MARKUP}` })
    const page = await suite.signedIn('/rejections')
    await page.getByText('When a report is rejected').or(page.getByRole('table')).first().waitFor()
    await suite.submit(key, { deviceId: `live ${MARKUP}`, latitude: 95, longitude: 1 })
    const row = page.getByRole('row').filter({ hasText: `live ${MARKUP}` })
    await row.waitFor()
    await row.getByText('bytes').click()
    await row.locator('pre').getByText(MARKUP).waitFor()
    await row.getByText(`Key ${MARKUP}`).waitFor()
  })

  test('rejections are counted, and can be searched by cause, device, key and time', async () => {
    const { key } = await suite.made('/keys', { name: 'Trackers' })
    for (const latitude of [91, 92])
      await suite.submit(key, { deviceId: 'faulty', latitude, longitude: 1 })
    const page = await suite.signedIn('/rejections', { timezoneId: 'Europe/Vienna' })
    const counts = page.getByRole('region', { name: 'How many' })
    const faulty = counts.getByRole('listitem').filter({ hasText: 'faulty' })
    expect(await faulty.locator('.number').textContent()).toBe('2')
    await faulty.getByRole('button').click()
    expect(new URL(page.url()).searchParams.get('deviceId')).toBe('faulty')
    await counts.getByText('2 rejected reports.').waitFor()
    const row = page.getByRole('table').getByRole('row').filter({ hasText: 'faulty' })
    await row.getByText('Latitude must be').waitFor()
    await row.getByText('Correct it in the settings of the device').waitFor()
    expect(await row.getByRole('cell').nth(2).textContent()).toBe('2')
    await row.getByRole('link', { name: 'faulty' }).waitFor()
    await row.getByRole('link', { name: 'Trackers' }).waitFor()
    await fillMoment(page, 'From', '2026-01-31', '12:30')
    expect(new URL(page.url()).searchParams.get('from')).toBe('2026-01-31T11:30:00.000Z')
    await page.getByRole('row').filter({ hasText: 'faulty' }).first().waitFor()
    await fillMoment(page, 'To', '2026-01-31', '12:31')
    await page.getByText('No rejections match these filters').waitFor()
    await suite.submit(key, { deviceId: 'faulty', latitude: 93, longitude: 1 })
    await page.getByRole('button', { name: 'Show all' }).click()
    await counts.getByText('By reason').waitFor()
    expect(new URL(page.url()).search).toBe('')
  })
})
