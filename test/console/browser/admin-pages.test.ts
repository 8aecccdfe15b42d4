import { expect, test } from '@jest/globals'
import { eventually } from '../../eventually.ts'
import { describeConsole } from './chromium.ts'
import { chooseAction, consoleSuite, EMAIL, follow } from './console-harness.ts'
import { countClicks } from './count-clicks.ts'
import { fillMoment } from './fill-moment.ts'

const PASSWORD = 'another correct horse'
/** Right-to-left letters. */
const HEBREW = 'שלום'

describeConsole('the pages of admins', () => {
  const suite = consoleSuite()

  test('System shows how the service is doing, and the last hour in whole numbers', async () => {
    await suite.report({ deviceId: 'van-1', latitude: 48.2, longitude: 16.4 })
    const page = await suite.signedIn('/system')
    const figure = (name: string) => page.locator('.figure').filter({ hasText: name })
    await figure('Dead letters').getByText('0', { exact: true }).waitFor()
    await figure('Lag').getByText('None', { exact: true }).waitFor()
    await figure('Accepted').getByText('1', { exact: true }).waitFor()
    await figure('Last backup').getByText('None', { exact: true }).waitFor()
    await figure('Retention').getByText('Forever', { exact: true }).waitFor()
    await figure('Data')
      .getByText(/^[\d.]+ [kM]B$/)
      .waitFor()
    const verdict = page.getByRole('region', { name: 'Verdict' })
    await verdict.getByText('All is well.').waitFor()
    await page.getByRole('table', { name: 'Processes' }).getByText('projector').waitFor()
    await page.getByRole('img', { name: 'Dead letters over the last hour' }).waitFor()
    const marks = await page.locator('.time-plot text').allTextContents()
    expect(marks).toEqual(expect.arrayContaining(['0', '1']))
    expect(marks.filter((text) => /^\d*\.\d/.test(text))).toEqual([])
  })

  test('elapsed times are entirely in English in a browser of another language', async () => {
    const page = await suite.signedIn('/system', { locale: 'de-DE' })
    const processes = page.getByRole('table', { name: 'Processes' })
    await processes
      .getByText(/^(now|\d+ (s|min|h) ago)$/)
      .first()
      .waitFor()
    expect(await processes.getByText(/(Sek|Min|Std)\./).count()).toBe(0)
  })

  test('System shows what is wrong and what to do, and links to the rejections', async () => {
    const page = await suite.signedIn()
    await page.route('**/api/v1/system', async (route) => {
      const answer = await route.fetch()
      const { data, ...rest } = (await answer.json()) as { data: object }
      const changed = { refusedPerMinute: 3, storage: { dataBytes: 5e9, freeBytes: 4e8 } }
      await route.fulfill({ json: { ...rest, data: { ...data, ...changed } } })
    })
    await page.getByRole('link', { name: 'System' }).click()
    const verdict = page.getByRole('region', { name: 'Verdict' })
    await verdict.getByText('The disk has 400.0 MB left').waitFor()
    await verdict.getByText('Reports are being rejected: 3 per minute.').waitFor()
    expect(await verdict.getByText('All is well.').count()).toBe(0)
    await page.locator('.figure').getByRole('link', { name: 'Rejections' }).waitFor()
    await verdict.getByRole('link', { name: 'See why' }).click()
    await page.getByRole('heading', { name: 'Rejections', level: 1 }).waitFor()
  })

  test('System warns of a missing backup a day after the first receipt, but not because of an old history', async () => {
    const { key } = await suite.made('/keys', { name: 'History', scopes: ['positions:import'] })
    const old = { deviceId: 'van-of-old', latitude: 48, longitude: 16 }
    const answer = await fetch(`${suite.ingestUrl}/api/v1/gps/import`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ reports: [{ ...old, timestamp: '2020-01-01T00:00:00.000Z' }] }),
    })
    expect(answer.status).toBe(200)
    await eventually(async () => (await suite.call('GET', '/devices/van-of-old')).status === 200)
    const page = await suite.signedIn()
    const asked = page.waitForResponse(/van-of-old\/positions/)
    await page.getByRole('link', { name: 'System' }).click()
    await (await asked).finished()
    await page.getByRole('table', { name: 'Processes' }).waitFor()
    expect(await page.getByText('No backup has been made yet.').count()).toBe(0)

    await page.route(/van-of-old\/positions/, async (route) => {
      const response = await route.fetch()
      const body = (await response.json()) as { data: { items: { receivedAt: string }[] } }
      const yesterday = new Date(Date.now() - 86_400_000 - 60_000).toISOString()
      for (const item of body.data.items) item.receivedAt = yesterday
      await route.fulfill({ response, json: body })
    })
    await page.reload()
    await page.getByText('No backup has been made yet.').waitFor()
  })

  test('an operator is created, becomes an admin, and is removed and signed out', async () => {
    const email = 'olga@example.org'
    const page = await suite.signedIn('/operators')
    const rows = page.getByRole('table', { name: 'Operators' }).getByRole('row')
    await rows.filter({ hasText: `${EMAIL} you` }).waitFor()
    await page.getByRole('button', { name: 'New operator' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'E-mail' }).fill('olga')
    await dialog.getByRole('button', { name: 'Create operator' }).click()
    await dialog.getByRole('alert').waitFor()
    await dialog.getByRole('textbox', { name: 'E-mail' }).fill(email)
    await dialog
      .getByText('Dispatchers also name, label and share them, move in their histories,')
      .waitFor()
    await dialog.getByRole('combobox', { name: 'Role' }).selectOption('Dispatcher')
    await dialog.getByRole('button', { name: 'Create operator' }).click()
    const password = await dialog.getByRole('textbox', { name: 'Password' }).inputValue()
    await dialog.getByRole('button', { name: 'I’ve saved it' }).click()
    const row = rows.filter({ hasText: email })
    await row.getByText('Dispatcher').waitFor()

    const theirs = await (await suite.open()).newPage()
    await theirs.goto(`${suite.url}/system`)
    await suite.fillSignIn(theirs, password, email)
    await theirs.getByRole('heading', { name: 'Change your password' }).waitFor()
    await theirs.getByLabel('Current password').fill(password)
    await theirs.getByLabel('New password', { exact: true }).fill(PASSWORD)
    await theirs.getByLabel('New password again').fill(PASSWORD)
    await theirs.getByRole('button', { name: 'Change password' }).click()
    await theirs.getByRole('heading', { name: 'System' }).waitFor()

    await page.getByRole('button', { name: `Actions ${EMAIL}` }).click()
    await page.getByRole('button', { name: `Edit ${EMAIL}` }).waitFor()
    expect(await page.getByRole('button', { name: `Remove ${EMAIL}` }).count()).toBe(0)
    await page.keyboard.press('Escape')
    await chooseAction(page, 'Edit', email)
    await dialog.getByRole('combobox', { name: 'Role' }).selectOption('Admin')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await row.getByText('Admin').waitFor()
    await chooseAction(page, 'Remove', email)
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click()
    await row.waitFor({ state: 'hidden' })
    await theirs.reload()
    await theirs.getByRole('button', { name: 'Sign in' }).waitFor()
  })

  test('adding a colleague takes at most four clicks and typing an address', async () => {
    const page = await suite.signedIn()
    const clicks = await countClicks(page)
    await follow(page, 'Operators')
    await page.getByRole('button', { name: 'New operator' }).click()
    await page.getByRole('dialog').getByRole('textbox', { name: 'E-mail' }).waitFor()
    await page.keyboard.type('carl@example.org')
    await page.getByRole('button', { name: 'Create operator' }).click()
    await page.getByRole('button', { name: 'I’ve saved it' }).click()
    await page.getByRole('row').filter({ hasText: 'carl@example.org' }).waitFor()
    expect(await clicks()).toBeLessThanOrEqual(4)
  })

  test('an operator whose role the console does not know keeps it when their password changes', async () => {
    const page = await suite.signedIn()
    const one = { id: 'op-9', email: 'dora@example.org', role: 'auditor', platform: false }
    const items = [{ ...one, createdAt: new Date().toISOString() }]
    const data = { items, nextCursor: null }
    await page.route('**/api/v1/operators', (route) =>
      route.fulfill({ json: { success: true, data } }),
    )
    const sent: unknown[] = []
    await page.route('**/api/v1/operators/op-9', async (route) => {
      sent.push(route.request().postDataJSON())
      await route.fulfill({ json: { success: true, data: items[0] } })
    })
    await page.getByRole('link', { name: 'Operators' }).click()
    await page.getByRole('row').getByText('auditor').waitFor()
    await chooseAction(page, 'Edit', one.email)
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByRole('combobox', { name: 'Role' }).inputValue()).toBe('auditor')
    await dialog.getByLabel('New password').fill(PASSWORD)
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect(sent).toEqual([{ password: PASSWORD }])
  })

  test('an account is created, suspended and resumed, and nobody can suspend their own', async () => {
    const page = await suite.signedIn('/accounts')
    const rows = page.getByRole('table', { name: 'Accounts' }).getByRole('row')
    await rows.filter({ hasText: 'default yours' }).waitFor()
    expect(await page.getByRole('button', { name: 'Actions' }).count()).toBe(0)
    await page.getByRole('button', { name: 'New account' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Name' }).fill(HEBREW)
    await dialog.getByRole('textbox', { name: 'E-mail' }).fill('first@example.org')
    await dialog.getByLabel('Password').fill(PASSWORD)
    await dialog.getByRole('button', { name: 'Create account' }).click()
    const row = rows.filter({ hasText: HEBREW })
    await row.getByText('Active').waitFor()

    const theirs = await (await suite.open()).newPage()
    await theirs.goto(`${suite.url}/keys`)
    await suite.fillSignIn(theirs, PASSWORD, 'first@example.org')
    await theirs.getByRole('button', { name: 'New key' }).waitFor()
    expect(await theirs.getByRole('link', { name: 'Accounts' }).count()).toBe(0)

    await chooseAction(page, 'Suspend', HEBREW)
    await dialog.getByRole('button', { name: 'Suspend' }).click()
    await row.getByText('Suspended').waitFor()
    await eventually(async () => {
      await theirs.reload()
      return (await theirs.getByRole('button', { name: 'Sign in' }).count()) > 0
    })
    await chooseAction(page, 'Resume', HEBREW)
    await dialog.getByRole('button', { name: 'Resume' }).click()
    await row.getByText('Active').waitFor()
  })

  test('right-to-left names are isolated in options, titles and labels of buttons', async () => {
    await suite.made('/keys', { name: HEBREW })
    await suite.report({ deviceId: HEBREW, latitude: 48.2, longitude: 16.4 })
    const page = await suite.signedIn('/rejections')
    await page.getByRole('combobox', { name: 'Key' }).fill(HEBREW)
    const option = page.getByRole('option', { name: HEBREW })
    expect(await option.locator('bdi').first().textContent()).toBe(HEBREW)
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Keys' }).click()
    await page.getByRole('button', { name: `Actions ${HEBREW}` }).click()
    const button = page.getByRole('button', { name: `Revoke ${HEBREW}` })
    expect(await button.locator('bdi').textContent()).toBe(HEBREW)
    await page.goto(`${suite.url}/devices/${encodeURIComponent(HEBREW)}`)
    await page.getByRole('region', { name: 'Now' }).waitFor()
    expect(await page.title()).toBe(`\u2068${HEBREW}\u2069 · GPS console`)
  })

  test('the audit can be searched by operator and time', async () => {
    const helper = { email: 'hal@example.org', password: 'another admin of this', role: 'admin' }
    const { id } = await suite.made('/operators', helper)
    const page = await suite.signedIn('/audit')
    const operator = page.getByRole('combobox', { name: 'Operator' })
    await operator.fill('hal')
    await page.getByRole('option', { name: 'hal@example.org' }).click()
    await page.waitForURL((url) => url.searchParams.get('operatorId') === id)
    await page.getByText('No entries').waitFor()
    expect(await operator.inputValue()).toBe('hal@example.org')
    await operator.fill('')
    await operator.press('Enter')
    await page.getByText('created the operator hal@example.org: admin.').first().waitFor()
    await page
      .getByRole('combobox', { name: 'Action', exact: true })
      .selectOption('Created the key')
    const made = page.getByRole('row').filter({ hasText: 'created the key' }).first()
    await made.getByText('key.created', { exact: true }).click()
    await made.locator('pre').getByText('"requestId"').waitFor()
    expect(await page.getByText('created the operator').count()).toBe(1)
    await fillMoment(page, 'To', '2026-01-31', '12:30')
    await page.getByText('No entries').waitFor()
  })
})
