import { beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite } from './console-harness.ts'

/** Each dialog: its page, the buttons that open it, and its title. */
const DIALOGS = [
  ['/', ['Your account', 'Keyboard'], 'Keyboard'],
  ['/', ['Your account', 'Change your password'], 'Change your password'],
  ['/?device=dialog-1', ['Label'], 'Labels'],
  ['/devices/dialog-1', ['Label'], 'Labels'],
  ['/devices/dialog-1', ['I lost this device'], 'I lost this device'],
  ['/devices/dialog-1', ['Settings', 'Edit'], 'Edit device'],
  ['/devices/dialog-1', ['Settings', 'Erase…'], 'Erase device'],
  ['/shares', ['New link'], 'New link'],
  ['/shares', ['Actions Customer', 'Revoke Customer'], 'Revoke link'],
  ['/keys', ['New key'], 'New key'],
  ['/keys', ['Which key is this?'], 'Which key is this?'],
  ['/keys', ['Actions Gateway', 'Devices Gateway'], 'Devices of'],
  ['/keys', ['Actions Gateway', 'Edit Gateway'], 'Edit key'],
  ['/keys', ['Actions Gateway', 'Replace secret Gateway'], 'Replace secret'],
  ['/keys', ['Actions Gateway', 'Revoke Gateway'], 'Revoke key'],
  ['/operators', ['New operator'], 'New operator'],
  ['/operators', ['Actions vera@example.org', 'Edit vera@example.org'], 'Edit operator'],
  ['/operators', ['Actions vera@example.org', 'Remove vera@example.org'], 'Remove operator'],
  ['/accounts', ['New account'], 'New account'],
  ['/accounts', ['Actions Another', 'Suspend Another'], 'Suspend account'],
] as const

/** Dialogs that show a secret: the page, and the form before them. */
const SECRETS = [
  ['/keys', 'New key', 'Name', 'Made by keys', 'Create key', 'Key created'],
  [
    '/operators',
    'New operator',
    'E-mail',
    'otto@example.org',
    'Create operator',
    'Operator created',
  ],
] as const

describeConsole('every dialog', () => {
  const suite = consoleSuite()

  beforeAll(async () => {
    await suite.report({ deviceId: 'dialog-1', latitude: 48.2, longitude: 16.4 })
    await eventually(async () => (await suite.call('GET', '/devices/dialog-1')).status === 200)
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString()
    await suite.made('/shares', { deviceIds: ['dialog-1'], name: 'Customer', expiresAt })
    await suite.made('/operators', { email: 'vera@example.org', role: 'viewer' })
    const admin = { email: 'admin@example.org', password: 'a long enough password' }
    await suite.made('/accounts', { name: 'Another', admin })
  })

  const isFocused = (page: Page, selector: string) =>
    page.evaluate<boolean>(`document.activeElement.matches('${selector}')`)

  /** Between two rounds of Tab through a dialog the browser's own buttons have the focus. */
  async function tabStaysIn(page: Page): Promise<boolean> {
    const controls = await page.locator('dialog :is(a, button, input, select, textarea)').count()
    for (const key of ['Tab', 'Shift+Tab']) {
      for (let times = 0; times < controls + 2; times += 1) {
        await page.keyboard.press(key)
        if (!(await isFocused(page, 'body, dialog, dialog *'))) return false
      }
    }
    return true
  }

  /** Waits until the button has the focus: a closed dialog gives it back. */
  const isBackAt = (page: Page, name: string) =>
    page
      .locator('button:focus')
      .and(page.getByRole('button', { name, exact: true }))
      .waitFor()

  test('Tab stays in it, and Esc closes it and gives the focus back', async () => {
    const page = await suite.signedIn('/')
    for (const [path, buttons, title] of DIALOGS) {
      if (!page.url().endsWith(path)) await page.goto(suite.url + path)
      for (const name of buttons) {
        await page.getByRole('button', { name, exact: true }).press('Enter')
      }
      const dialog = page.getByRole('dialog', { name: title })
      await dialog.waitFor()
      expect([title, await isFocused(page, 'dialog, dialog *')]).toEqual([title, true])
      expect([title, await tabStaysIn(page)]).toEqual([title, true])
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'hidden' })
      await isBackAt(page, buttons[0])
    }
  }, 300_000)

  test.each(SECRETS)(
    'a secret closes by its button alone, and gives the focus back: %s',
    async (path, opener, field, text, button, title) => {
      const page = await suite.signedIn(path)
      await page.getByRole('button', { name: opener }).press('Enter')
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('textbox', { name: field }).fill(text)
      await dialog.getByRole('button', { name: button }).press('Enter')
      await page.getByRole('dialog', { name: title }).waitFor()
      await page.keyboard.press('Escape')
      expect(await isFocused(page, 'dialog *')).toBe(true)
      expect(await tabStaysIn(page)).toBe(true)
      await dialog.getByRole('button', { name: 'I have it' }).press('Enter')
      await dialog.waitFor({ state: 'hidden' })
      await isBackAt(page, opener)
    },
  )
})
