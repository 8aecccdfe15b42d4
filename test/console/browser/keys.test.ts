import { expect, test } from '@jest/globals'
import { eventually } from '../../eventually.ts'
import { describeConsole } from './chromium.ts'
import { secretOf } from './connecting.ts'
import { chooseAction, consoleSuite, follow } from './console-harness.ts'

const MARKUP = '<img src=x onerror=alert(1)>'

describeConsole('keys', () => {
  const suite = consoleSuite()

  test('a message that arrives while a dialog is open appears in it', async () => {
    const page = await suite.signedIn('/keys')
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Announced')
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Copy' }).first().click()
    await dialog
      .getByRole('status')
      .getByText(/cop(ied|ied: select it)/)
      .waitFor()
    for (let times = 0; times < 5; times += 1) await page.keyboard.press('Escape')
    expect(await secretOf(page)).toMatch(/^gps_/)
  })

  test('keys are created, found, given a new secret and revoked, and markup in a name stays text', async () => {
    const page = await suite.signedIn('/keys')
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill(MARKUP)
    await page.getByRole('button', { name: 'Create key' }).click()
    const key = await secretOf(page)
    await page.getByRole('button', { name: 'I’ve saved it' }).click()
    const row = page.getByRole('row').filter({ hasText: MARKUP })
    await chooseAction(page, 'Replace secret', MARKUP)
    await page.getByRole('dialog').getByRole('button', { name: 'Replace secret' }).click()
    const renewed = await secretOf(page)
    expect(renewed).not.toBe(key)
    await page.getByText('The old secret works until').waitFor()
    await page.getByRole('button', { name: 'I’ve saved it' }).click()
    await row.getByText('Secret replaced').waitFor()

    await page.getByRole('button', { name: 'Which key is this?' }).click()
    await page.getByLabel('Secret', { exact: true }).fill(key)
    await page.getByRole('button', { name: 'Find' }).click()
    await page.getByRole('dialog').getByText(MARKUP).waitFor()
    await page.keyboard.press('Escape')

    const [first = '', second = ''] = ['of that key', 'of it too']
    for (const deviceId of [first, second])
      await suite.submit(renewed, { deviceId, latitude: 1, longitude: 2 })
    await eventually(async () => {
      const { body } = await suite.call('GET', '/devices?q=that%20key')
      return (body as { data: { items: unknown[] } }).data.items.length === 1
    })
    await chooseAction(page, 'Devices', MARKUP)
    const devices = page.getByRole('list', { name: 'Devices of the key' })
    await devices.getByRole('link', { name: first }).waitFor()
    await page.keyboard.press('Escape')

    await chooseAction(page, 'Revoke', MARKUP)
    await devices.getByRole('link', { name: second }).waitFor()
    await page.getByRole('button', { name: 'Revoke key' }).click()
    await row.getByText('Revoked').waitFor()
    expect(await suite.submit(key, { deviceId: 'a', latitude: 1, longitude: 2 })).toBe(401)
  })

  test('viewers see no control that changes anything, and read why', async () => {
    const viewer = { email: 'vic@example.org', password: 'a viewer of this account' }
    await suite.made('/operators', { ...viewer, role: 'viewer' })
    const page = await (await suite.open()).newPage()
    await page.goto(`${suite.url}/keys`)
    await page.getByRole('textbox', { name: 'E-mail' }).fill(viewer.email)
    await page.getByLabel('Password').fill(viewer.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('row').filter({ hasText: 'Gateway' }).waitFor()
    const buttons = page.getByRole('main').getByRole('button')
    const menus = buttons.and(page.getByRole('button', { name: /^Actions / }))
    expect(await buttons.count()).toBe(await menus.count())
    await menus.first().click()
    await page.locator('[popover]:popover-open').getByRole('button', { name: 'Devices' }).waitFor()
    expect(await page.locator('[popover]:popover-open button').count()).toBe(1)
    await page.keyboard.press('Escape')
    await follow(page, 'Connect a device')
    await page.getByText('Ask one for the secret').waitFor()
    expect(await page.getByRole('button', { name: /Create a key|Send a test/ }).count()).toBe(0)
    for (const name of ['Shared links', 'Operators', 'Accounts', 'Audit']) {
      const places = page.getByRole('navigation', { name: 'Console' })
      expect(await places.getByRole('link', { name }).count()).toBe(0)
    }
    await page.goto(`${suite.url}/operators`)
    await page.getByRole('heading', { name: 'You have no permission' }).waitFor()
  })

  test('one of thousands of keys is found by name, filtered and sorted, and named in its rejections', async () => {
    const { id } = await suite.made('/keys', { name: 'Needle 07' })
    for (let one = 0; one < 101; one += 1) await suite.made('/keys', { name: `Hay ${one}` })
    const page = await suite.signedIn('/keys')
    const rows = page.getByRole('table').getByRole('row')
    await rows.nth(100).waitFor()
    expect(await rows.filter({ hasText: 'Needle 07' }).count()).toBe(0)
    await page.getByRole('searchbox', { name: 'Search keys' }).fill('needle 7')
    await rows.filter({ hasText: 'Needle 07' }).waitFor()
    expect(await rows.count()).toBe(2)
    await page.getByRole('combobox', { name: 'Status' }).selectOption('Revoked')
    await page.getByRole('heading', { name: 'No keys match these filters' }).waitFor()
    await page.getByRole('button', { name: 'Show all' }).click()
    await page.getByRole('searchbox', { name: 'Search keys' }).fill('hay')
    await page.getByRole('combobox', { name: 'Order' }).selectOption('By name')
    await rows.nth(1).getByRole('link', { name: 'Hay 0', exact: true }).waitFor()
    await rows.nth(11).getByRole('link', { name: 'Hay 10', exact: true }).waitFor()
    await page.goto(`${suite.url}/rejections?keyId=${id}`)
    const filter = page.getByRole('combobox', { name: 'Key' })
    await eventually(async () => (await filter.inputValue()) === 'Needle 07')
  })
})
