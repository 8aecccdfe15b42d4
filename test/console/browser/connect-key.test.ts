import { expect, test } from '@jest/globals'
import { describeConsole } from './chromium.ts'
import { connecting, nameWithId, secretOf } from './connecting.ts'
import { consoleSuite, follow } from './console-harness.ts'

describeConsole('the key of a device being connected', () => {
  const suite = consoleSuite()

  test('a key is created only once its guide says which id the device reports with', async () => {
    const page = await suite.signedIn()
    let letCome = () => {}
    const isHeld = new Promise<void>((resolve) => (letCome = resolve))
    await page.route('**/owntracks-*.js', async (route) => {
      await isHeld
      await route.continue()
    })
    await follow(page, 'Connect a device')
    await nameWithId(page, 'slow phone')
    const create = page.getByRole('button', { name: 'Create a key' })
    expect(await create.isDisabled()).toBe(true)
    letCome()
    await create.click()
    await page.getByText('can send reports of owntracks/slow phone only').waitFor()
  })

  test('renaming the device creates no second key', async () => {
    const page = await connecting(suite, 'one name')
    const key = await secretOf(page)
    await page.getByRole('textbox', { name: 'Device id' }).fill('other name')
    expect(await page.getByRole('button', { name: 'Create a key' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Use it for other name' }).click()
    await page.getByText('can send reports of other name only').waitFor()
    expect(await secretOf(page)).toBe(key)
    await page.getByRole('button', { name: 'Connect another' }).click()
    expect(await page.getByLabel('What is it called?').inputValue()).toBe('')
    await page.getByRole('button', { name: 'Create a key' }).click()
    await page.getByRole('alert').getByText('Name the device first').waitFor()
  })

  test('a returning user finds everything but the secret, and continues after pasting it', async () => {
    const page = await connecting(suite, 'left alone', 'Python')
    const key = await secretOf(page)
    await follow(page, 'Keys')
    await page.getByRole('heading', { name: 'Keys' }).waitFor()
    await follow(page, 'Connect a device')
    await page.getByText('its secret was shown only once').waitFor()
    expect(await page.getByRole('textbox', { name: 'Device id' }).inputValue()).toBe('left alone')
    expect(await page.getByLabel('Python', { exact: true }).isChecked()).toBe(true)
    expect(await page.content()).not.toContain(key)
    const kept = await page.evaluate('JSON.stringify([localStorage, sessionStorage, location])')
    expect(kept).not.toContain(key)

    await page.getByText('Use an existing key').click()
    await page.getByLabel('Secret', { exact: true }).fill('gps_wrong')
    await page.getByRole('button', { name: 'Use it' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Secret', { exact: true }).fill(key)
    await page.getByRole('button', { name: 'Use it' }).click()
    expect(await secretOf(page)).toBe(key)
  })

  test('an address with a key in its fragment continues with it, and drops it', async () => {
    const { key } = await suite.made('/keys', { name: 'Phone' })
    const page = await suite.signedIn(`/connect#key=${key}&device=phone&sender=gpslogger`, {
      byForm: true,
    })
    expect(await secretOf(page)).toBe(key)
    expect(page.url()).toBe(`${suite.url}/connect`)
    expect(await page.getByLabel('GPSLogger', { exact: true }).isChecked()).toBe(true)
    expect(await page.getByRole('textbox', { name: 'Device id' }).inputValue()).toBe('phone')
  })

  test('a link’s key of another account is used only after a confirmation', async () => {
    const admin = { email: 'mallory@example.org', password: 'a foreign correct horse' }
    await suite.made('/accounts', { name: 'Foreign', admin })
    const foreign = await (await suite.open()).newPage()
    await foreign.goto(`${suite.url}/connect`)
    await suite.fillSignIn(foreign, admin.password, admin.email)
    await foreign.getByLabel('What is it called?').fill('truck-7')
    await foreign.getByRole('button', { name: 'Create a key' }).click()
    const key = await secretOf(foreign)

    const page = await suite.signedIn(`/connect#key=${key}&device=truck-7&sender=gpslogger`)
    await page.getByRole('alert').getByText('It is not a key of your account').waitFor()
    expect(page.url()).toBe(`${suite.url}/connect`)
    expect(await page.getByRole('main').innerHTML()).not.toContain(key)
    expect(await page.getByRole('textbox', { name: 'Device id' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Use it anyway' }).click()
    expect(await secretOf(page)).toBe(key)
    expect(await page.getByRole('textbox', { name: 'Device id' }).inputValue()).toBe('truck-7')
  })
})
