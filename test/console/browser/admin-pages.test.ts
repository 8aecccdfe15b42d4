import { expect, test } from '@jest/globals'
import { describeConsole } from './chromium.ts'
import { consoleSuite } from './console-harness.ts'

describeConsole('the page System', () => {
  const suite = consoleSuite()

  test('shows how the service is doing, and the last hour in whole numbers', async () => {
    await suite.report({ deviceId: 'van-1', latitude: 48.2, longitude: 16.4 })
    const page = await suite.signedIn('/system')
    const figure = (name: string) => page.locator('.figure').filter({ hasText: name })
    await figure('Dead letters').getByText('0', { exact: true }).waitFor()
    await figure('Behind').getByText('nothing', { exact: true }).waitFor()
    await figure('Accepted').getByText('1 a minute').waitFor()
    await page.getByRole('table', { name: 'Processes' }).getByText('projector').waitFor()
    await page.getByRole('img', { name: 'Dead letters over the last hour' }).waitFor()
    const painted = await page.evaluate<string[]>(`[...window.painted.keys()]`)
    expect(painted).toEqual(expect.arrayContaining(['0', '1']))
    expect(painted.filter((text) => /^\d*\.\d/.test(text))).toEqual([])
  })
})
