import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite, deviceRow } from './console-harness.ts'
import { countClicks } from './count-clicks.ts'

describeConsole('a lost device', () => {
  const suite = consoleSuite()

  const at = (deviceId: string) => ({ deviceId, latitude: 48.2, longitude: 16.4 })
  const keyCard = (page: Page) => page.getByRole('region', { name: 'Key', exact: true })
  const dialog = (page: Page) => page.getByRole('dialog', { name: 'I lost this device' })

  test('revoking its key takes at most four clicks from the map, if no other device uses it', async () => {
    const { key } = await suite.made('/keys', { name: 'Phone of Ana' })
    expect(await suite.submit(key, at('lost-1'))).toBe(200)
    const page = await suite.signedIn()
    const clicks = await countClicks(page)
    await deviceRow(page, 'lost-1').click()
    await page.getByRole('link', { name: 'History and settings' }).click()
    await page.getByRole('button', { name: 'I lost this device' }).click()
    await dialog(page).getByText('No other device reports with its key').waitFor()
    await dialog(page).getByRole('button', { name: 'Revoke its key' }).click()
    await keyCard(page).getByText('Revoked').waitFor()
    expect(await clicks()).toBeLessThanOrEqual(4)
    await eventually(async () => (await suite.submit(key, at('lost-1'))) === 401)
  })

  test('it is disabled, with the reason, if other devices report with its key', async () => {
    const { key } = await suite.made('/keys', { name: 'Vans' })
    for (const deviceId of ['lost-2', 'other-van'])
      expect(await suite.submit(key, at(deviceId))).toBe(200)
    await eventually(async () => {
      const { status } = await suite.call('GET', '/devices/other-van')
      return status === 200
    })
    const page = await suite.signedIn('/devices/lost-2')
    await page.getByRole('button', { name: 'I lost this device' }).click()
    await dialog(page).getByText('revoking the key would silence them').waitFor()
    await dialog(page).getByRole('link', { name: 'other-van' }).waitFor()
    await dialog(page).getByRole('button', { name: 'Disable device' }).click()
    await eventually(async () => (await suite.submit(key, at('lost-2'))) === 403)
    expect(await suite.submit(key, at('other-van'))).toBe(200)
  })

  test('the device shows its key, and links to that key, which lists its devices', async () => {
    const { key } = await suite.made('/keys', { name: 'Bicycle' })
    expect(await suite.submit(key, at('bike'))).toBe(200)
    await eventually(async () => (await suite.call('GET', '/devices/bike')).status === 200)
    const page = await suite.signedIn('/devices/bike')
    await keyCard(page).getByText('Reports with key Bicycle').waitFor()
    await keyCard(page).getByRole('link', { name: 'Bicycle' }).click()
    await page.getByRole('heading', { name: /^Key .*Bicycle/ }).waitFor()
    const devices = page.getByRole('list', { name: 'Devices of the key' })
    await devices.getByRole('link', { name: 'bike' }).click()
    await page.getByRole('heading', { name: 'bike' }).waitFor()
    await page.getByRole('link', { name: 'Keys', exact: true }).click()
    await page.getByRole('link', { name: 'Bicycle' }).click()
    await page.getByRole('heading', { name: /^Key .*Bicycle/ }).waitFor()
  })
})
