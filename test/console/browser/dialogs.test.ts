import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite, PASSWORD } from './console-harness.ts'

/** Each dialog: its page, the buttons that open it, and its title. */
const DIALOGS = [
  ['/', ['Your account', 'Keyboard'], 'Keyboard'],
  ['/', ['Your account', 'Change your password'], 'Change your password'],
  ['/?device=dialog-1', ['Label'], 'Labels'],
  ['/devices/dialog-1', ['Label'], 'Labels'],
  ['/devices/dialog-1', ['I lost this device'], 'I lost this device'],
  ['/devices/dialog-1', ['Settings', 'Edit'], 'Edit device'],
  ['/devices/dialog-1', ['Settings', 'Erase…'], 'Erase device'],
  ['/events', ['Close: dialog-2'], 'Close the alarm'],
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
  ['/geofences', ['From a file'], 'Geofences from a file'],
  ['/rules', ['New rule'], 'New rule'],
  ['/rules', ['Actions Low', 'Change Low'], 'Change rule'],
  ['/rules', ['Actions Low', 'Delete Low'], 'Delete rule'],
  ['/notifications', ['New notification'], 'New notification'],
  ['/notifications', ['Actions Unwell', 'Try now Unwell'], 'Try now'],
  ['/notifications', ['Actions Gone', 'Enable Gone'], 'Enable notification'],
  ['/notifications', ['Actions Gone', 'Edit Gone'], 'Edit notification'],
  ['/notifications', ['Actions Gone', 'Replace secret Gone'], 'Replace secret'],
  ['/notifications', ['Actions Gone', 'Rewind Gone'], 'Rewind notification'],
  ['/notifications', ['Actions Gone', 'Delete Gone'], 'Delete notification'],
  ['/accounts', ['New account'], 'New account'],
  ['/accounts', ['Actions Another', 'Suspend Another'], 'Suspend account'],
] as const

/** Dialogs that show a secret: the page, the buttons that open the form before them, and its button. */
const SECRETS = [
  ['/keys', ['New key'], { Name: 'Made by keys' }, 'Create key', 'Key created'],
  ['/keys', ['Actions Spare', 'Replace secret Spare'], {}, 'Replace secret', 'New secret'],
  ['/shares', ['New link'], { Devices: 'dialog-1' }, 'Create link', 'Link created'],
  ['/notifications', ['Actions Gone', 'Replace secret Gone'], {}, 'Replace secret', 'New secret'],
  [
    '/operators',
    ['New operator'],
    { 'E-mail': 'otto@example.org' },
    'Create operator',
    'Operator created',
  ],
] as const

describeConsole('every dialog', () => {
  const suite = consoleSuite({ env: () => ({ WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8' }) })
  /** Responds with the status in the path. */
  const receiver = createServer(({ url = '' }, response) => {
    response.writeHead(Number(url.slice(1))).end()
  })
  /** The titles of the dialogs that the tests have opened. */
  const opened = new Set<string>()

  beforeAll(async () => {
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    const place = { latitude: 48.2, longitude: 16.4 }
    const alarm = { attributes: { alarm: 'powerCut' } }
    await suite.report({ deviceId: 'dialog-1', ...place })
    await suite.report({ deviceId: 'dialog-2', ...place, ...alarm })
    await eventually(async () => (await suite.call('GET', '/devices/dialog-2')).status === 200)
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString()
    await suite.made('/shares', { deviceIds: ['dialog-1'], name: 'Customer', expiresAt })
    await suite.made('/keys', { name: 'Spare' })
    await suite.made('/operators', { email: 'vera@example.org', role: 'viewer' })
    const shape = { type: 'circle', latitude: 48.2, longitude: 16.4, radius: 100 }
    await suite.made('/geofences', { name: 'Yard', shape })
    await suite.made('/rules', { name: 'Low', when: { field: 'battery', below: 0.2 } })
    const { port } = receiver.address() as AddressInfo
    for (const [name, status] of Object.entries({ Unwell: 500, Gone: 410 })) {
      const target = { kind: 'webhook', url: `http://127.0.0.1:${port}/${status}` }
      const { id } = await suite.made('/subscriptions', { name, source: 'facts', target })
      await suite.call('POST', `/subscriptions/${id}/rewind`, { to: 'start' })
      await eventually(async () => {
        const { body } = await suite.call('GET', `/subscriptions/${id}`)
        return (body.data as { state: string }).state !== 'active'
      })
    }
    const admin = { email: 'admin@example.org', password: 'a long enough password' }
    await suite.made('/accounts', { name: 'Another', admin })
  })

  afterAll(() => void receiver.close())

  const isFocused = (page: Page, selector: string) =>
    page.evaluate<boolean>(`document.activeElement.matches('${selector}')`)

  /** At its last and first control Tab stays: between two rounds the browser's own buttons have the focus. */
  async function tabStaysIn(page: Page): Promise<boolean> {
    const controls = page
      .locator('dialog :is(a[href], button, input, select, textarea):enabled')
      .filter({ visible: true })
    for (const [key, at] of [
      ['Tab', controls.last()],
      ['Shift+Tab', controls.first()],
    ] as const) {
      await at.focus()
      for (let times = 0; times < 4; times += 1) {
        await page.keyboard.press(key)
        if (!(await isFocused(page, 'body, dialog, dialog *'))) return false
      }
    }
    return true
  }

  /** Waits for the dialog, which must have the focus and keep it. */
  async function opens(page: Page, title: string) {
    const dialog = page.getByRole('dialog', { name: title })
    await dialog.waitFor()
    opened.add(String(await dialog.getByRole('heading').first().textContent()))
    expect([title, await isFocused(page, 'dialog, dialog *')]).toEqual([title, true])
    expect([title, await tabStaysIn(page)]).toEqual([title, true])
    return dialog
  }

  /** Waits until the button has the focus: a closed dialog gives it back. */
  const isBackAt = (page: Page, name: string) =>
    page
      .locator('button:focus')
      .and(page.getByRole('button', { name, exact: true }))
      .waitFor()

  test('Tab stays in it, and Esc closes it and returns the focus', async () => {
    const page = await suite.signedIn('/')
    for (const [path, buttons, title] of DIALOGS) {
      if (!page.url().endsWith(path)) await page.goto(suite.url + path)
      for (const name of buttons) {
        await page.getByRole('button', { name, exact: true }).press('Enter')
      }
      const dialog = await opens(page, title)
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'hidden' })
      await isBackAt(page, buttons[0])
    }
  })

  test('the dialog that deletes a chosen geofence returns the focus to its card', async () => {
    const page = await suite.signedIn('/geofences')
    await page.getByRole('list', { name: 'Geofences' }).getByRole('button').press('Enter')
    await page.getByRole('button', { name: 'Delete', exact: true }).press('Enter')
    const dialog = await opens(page, 'Delete geofence')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await isBackAt(page, 'Delete')
  })

  test('the question before a drawing is lost returns the focus to the link', async () => {
    const page = await suite.signedIn('/geofences?new=1')
    await page.getByRole('button', { name: 'Draw a polygon' }).press('Enter')
    await page.getByLabel('Corners').fill('0, 0\n1, 1')
    await page.getByLabel('Name').focus()
    const link = page.getByRole('link', { name: 'Keys' })
    await link.press('Enter')
    const dialog = await opens(page, 'Leave without saving')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await page.locator('a:focus').and(link).waitFor()
  })

  test('dialogs of the selection bar return the focus, or move it to the heading if their button is off', async () => {
    const page = await suite.signedIn('/?q=dialog')
    await page.getByRole('button', { name: 'dialog-2' }).press('Space')
    for (const [name, title] of [
      ['Label', 'Labels'],
      ['Disable', 'Disable 1 device?'],
    ] as const) {
      await page.getByRole('button', { name, exact: true }).press('Enter')
      const dialog = await opens(page, title)
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'hidden' })
      await isBackAt(page, name)
    }
    await page.getByRole('button', { name: 'Disable', exact: true }).press('Enter')
    const sure = page.getByRole('dialog').getByRole('button', { name: 'Disable', exact: true })
    await sure.press('Enter')
    await page.locator('h1:focus').waitFor()
    await page.getByRole('button', { name: 'Select all' }).press('Enter')
    await page.getByRole('button', { name: 'Label', exact: true }).press('Enter')
    await opens(page, 'Labels of 2 devices')
  })

  test('a key opens the list of devices at one place, and one of them is chosen', async () => {
    const page = await suite.signedIn('/?device=dialog-1')
    await page.getByRole('heading', { name: 'dialog-1' }).waitFor()
    await page.locator('.map-target').press('s')
    const dialog = await opens(page, '2 devices at this place')
    await dialog.getByRole('button', { name: 'dialog-2' }).press('Enter')
    await page.getByRole('heading', { name: 'dialog-2' }).waitFor()
    await page.locator('.map-target:focus').waitFor()
  })

  test('signing in again returns the focus', async () => {
    const page = await suite.signedIn('/audit')
    const action = page.getByRole('combobox', { name: 'Action', exact: true })
    await action.focus()
    await page.context().clearCookies()
    await action.selectOption('Signed in')
    const dialog = await opens(page, 'Your session has ended')
    await dialog.getByLabel('Password').fill(PASSWORD)
    await dialog.getByLabel('Password').press('Enter')
    await dialog.waitFor({ state: 'hidden' })
    await page.locator('select:focus').waitFor()
  })

  test.each(SECRETS)(
    'only its button closes a secret, and the focus returns: %s, %s',
    async (path, openers, fields, button, title) => {
      const page = await suite.signedIn(path)
      for (const name of openers) {
        await page.getByRole('button', { name, exact: true }).press('Enter')
      }
      const form = page.getByRole('dialog')
      for (const [name, text] of Object.entries(fields)) {
        const field = form.getByLabel(name, { exact: true })
        await field.fill(text)
        if (name !== 'Devices') continue
        await field.press('Enter')
        await form.getByRole('button', { name: `Remove ${text}` }).waitFor()
      }
      await form.getByRole('button', { name: button }).press('Enter')
      const dialog = await opens(page, title)
      await page.keyboard.press('Escape')
      expect(await dialog.isVisible()).toBe(true)
      await dialog.getByRole('button', { name: 'I’ve saved it' }).press('Enter')
      await dialog.waitFor({ state: 'hidden' })
      await isBackAt(page, openers[0])
    },
  )

  test('the dialog after a new notification keeps the focus, and returns it', async () => {
    const page = await suite.signedIn('/notifications')
    for (const kind of ['A phone, by ntfy', 'A program, by webhook']) {
      await page.getByRole('button', { name: 'New notification' }).press('Enter')
      const form = page.getByRole('dialog')
      await form.getByLabel('Tell').selectOption(kind)
      await form.getByLabel('URL').fill('https://example.org/x')
      await form.getByLabel('Name').fill(kind)
      await form.getByLabel('When').selectOption('One of these events happens …')
      await form.getByLabel('Alarm reported').check()
      await form.getByRole('button', { name: 'Save' }).press('Enter')
      const dialog = await opens(page, 'Notification created')
      const end = kind === 'A phone, by ntfy' ? 'Close' : 'I’ve saved it'
      await dialog.getByRole('button', { name: end }).press('Enter')
      await dialog.waitFor({ state: 'hidden' })
      await isBackAt(page, 'New notification')
    }
  })

  test('the tests above have opened each dialog of the console', () => {
    const files = readdirSync('console', { encoding: 'utf8', recursive: true })
    const titles = files
      .filter((file) => file.endsWith('.tsx'))
      .flatMap((file) => titlesIn(readFileSync(`console/${file}`, 'utf8')))
    expect(titles.length).toBeGreaterThan(25)
    const isOpened = (title: RegExp) => [...opened].some((one) => title.test(one))
    expect(titles.filter((title) => !isOpened(title))).toEqual([])
  })
})

/** The titles of the dialogs in a source, as patterns: computed parts may be anything. */
function titlesIn(source: string): RegExp[] {
  const tags =
    /<(?:Form)?Dialog\b[^<>]*? title=(".*?"|{[^{}]+})|<Ke(?:ep|y)Secret\b[^<>]*? title=(".*?")/g
  const fixed = /const title = ('[^']*')/g
  const simple = source.replace(/\${[^}]*}/g, '…').replace(/\s+/g, ' ')
  return [tags, fixed]
    .flatMap((found) => [...simple.matchAll(found)].map(([, one, other]) => one ?? other ?? ''))
    .flatMap((value) => [...value.matchAll(/(['"`])(.*?)\1/g)].map((literal) => literal[2] ?? ''))
    .map((text) => new RegExp(`^${text.replace('?', '\\?').replace('…', '.*')}$`))
}
