import { expect, test } from '@jest/globals'
import { eventually } from '../../eventually.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite } from './console-harness.ts'

describeConsole('sharing', () => {
  const suite = consoleSuite()

  test('a link shows devices live to people without an account, until it is revoked', async () => {
    await suite.report(
      { deviceId: 'secret-id', latitude: 48.2, longitude: 16.4 },
      { deviceId: 'soon-gone', latitude: 48.2, longitude: 16.4 },
    )
    const page = await suite.signedIn('/shares')
    await page.getByRole('button', { name: 'New link' }).click()
    const name = 'Delivery <img src=x onerror=alert(1)>'
    await page.getByRole('textbox', { name: 'Name' }).fill(name)
    const search = page.getByRole('searchbox', { name: 'Devices' })
    await search.fill('no such device')
    await page.getByText('No other device matches').waitFor()
    await search.fill('SOON')
    await page.getByRole('button', { name: 'Add soon-gone' }).click()
    await page.getByRole('button', { name: 'Add secret-id' }).waitFor()
    await search.fill('cret')
    await page.getByRole('button', { name: 'Add soon-gone' }).waitFor({ state: 'hidden' })
    await search.press('Enter')
    expect((await suite.call('DELETE', '/devices/soon-gone')).status).toBe(202)
    await page.getByRole('button', { name: 'Make the link' }).click()
    await page.getByRole('dialog').getByRole('alert').waitFor()
    await page.getByRole('button', { name: 'Remove soon-gone' }).click()
    await page.getByRole('button', { name: 'Make the link' }).click()
    const link = await page.getByRole('textbox', { name: 'Link' }).inputValue()
    await page.keyboard.press('Escape')

    const guest = await (await suite.open({ viewport: { width: 360, height: 740 } })).newPage()
    await guest.goto(link)
    await guest.getByRole('heading', { name }).waitFor()
    const device = guest.getByRole('list', { name: 'Devices' }).getByText('Device 1')
    await device.waitFor()
    await guest.getByRole('status', { name: 'Connection' }).getByText('live').waitFor()
    expect(await guest.content()).not.toContain('secret-id')
    const time = device.locator('..').getByRole('time')
    const shown = await time.getAttribute('datetime')
    await suite.report({ deviceId: 'secret-id', latitude: 48.3, longitude: 16.4 })
    await eventually(async () => (await time.getAttribute('datetime')) !== shown)

    await page.getByRole('button', { name: `Revoke ${name}` }).click()
    await page.getByRole('button', { name: 'Revoke for good' }).click()
    await guest.getByRole('heading', { name: 'This link shows nothing' }).waitFor()
  })

  test('a device leads to a link of its own, and the link ends while it is looked at', async () => {
    await suite.report({ deviceId: 'van', latitude: 48.2, longitude: 16.4 })
    const page = await suite.signedIn('/?device=van')
    const card = page.getByRole('region', { name: 'Selected device' })
    await card.getByRole('link', { name: 'Share' }).click()
    await page.getByRole('button', { name: 'Remove van' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    expect(page.url()).toBe(`${suite.url}/shares`)

    const { token } = await suite.made('/shares', {
      name: 'For a moment',
      deviceIds: ['van'],
      expiresAt: new Date(Date.now() + 12_000).toISOString(),
      trailMinutes: 0,
    })
    const guest = await (await suite.open()).newPage()
    await guest.goto(`${suite.url}/share#${token}`)
    await guest.getByRole('heading', { name: 'For a moment' }).waitFor()
    await guest.getByRole('button', { name: 'Zoom in' }).click()
    await guest.getByRole('heading', { name: 'This link shows nothing' }).waitFor()
    expect(await guest.getByText('Device 1').count()).toBe(0)
  })

  test.each(['/share', '/share#nonsense', '/share#%'])(
    '%s says that it shows nothing',
    async (path) => {
      const page = await (await suite.open()).newPage()
      await page.goto(suite.url + path)
      await page.getByRole('heading', { name: 'This link shows nothing' }).waitFor()
    },
  )
})
