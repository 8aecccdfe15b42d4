import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { accessFaults } from './access-faults.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite, deviceRow, PASSWORD } from './console-harness.ts'
import { countClicks } from './count-clicks.ts'
import { fillMoment } from './fill-moment.ts'

const DISPATCHER = 'dora@example.org'
/** Tomorrow, late in the day. */
const IN_TWO_HOURS = /(today|tomorrow) \d\d:\d\d/

describeConsole('the dialog that shares devices', () => {
  const suite = consoleSuite()
  const dialog = (page: Page) => page.getByRole('dialog', { name: 'New link' })
  const preview = (page: Page) => page.getByRole('region', { name: 'What viewers see' })

  async function device(deviceId: string, name?: string, more: object = {}): Promise<void> {
    await suite.report({ deviceId, latitude: 48.2, longitude: 16.4, ...more })
    await eventually(async () => (await suite.call('GET', `/devices/${deviceId}`)).status === 200)
    if (name !== undefined) await suite.call('PATCH', `/devices/${deviceId}`, { name })
  }

  async function createdLink(page: Page): Promise<string> {
    const made = page.getByRole('dialog', { name: 'Link created' })
    return made.getByRole('textbox', { name: 'Link' }).inputValue()
  }

  async function shared(link: string): Promise<object> {
    const answer = await fetch(`${suite.url}/api/v1/shared`, {
      headers: { Authorization: `Bearer ${link.split('#')[1]}` },
    })
    return ((await answer.json()) as { data: object }).data
  }

  test('Enter right after typing adds the device that was typed, not the first of the previous list', async () => {
    await device('pick-1')
    await device('pick-2')
    const page = await suite.signedIn('/shares')
    await page.getByRole('button', { name: 'New link' }).click()
    await dialog(page).getByRole('button', { name: 'Add pick-1' }).waitFor()
    const search = dialog(page).getByRole('searchbox', { name: 'Devices' })
    await search.fill('pick-2')
    await search.press('Enter')
    const removes = dialog(page).getByRole('button', { name: /^Remove/ })
    await removes.first().waitFor()
    expect(await removes.allTextContents()).toEqual([expect.stringContaining('pick-2')])
  })

  test('no link is created while a typed device is not yet added', async () => {
    await device('typed-1')
    await device('typed-2')
    const page = await suite.signedIn('/shares?device=typed-1')
    const search = dialog(page).getByRole('searchbox', { name: 'Devices' })
    const create = dialog(page).getByRole('button', { name: 'Create link' })
    await dialog(page).getByRole('button', { name: 'Remove typed-1' }).waitFor()
    await search.fill('typed-2')
    await create.click()
    await dialog(page)
      .getByText('Add a device that the search found, or clear the search')
      .waitFor()
    await search.press('Enter')
    await dialog(page).getByRole('button', { name: 'Remove typed-2' }).waitFor()
    await create.click()
    expect(await shared(await createdLink(page))).toMatchObject({
      items: [{ name: 'Device 1' }, { name: 'Device 2' }],
    })
  })

  test('a dispatcher copies a link to a device with at most four clicks from the list', async () => {
    await device('lorry-7', 'Lorry 7')
    const role = 'dispatcher'
    await suite.made('/operators', { email: DISPATCHER, password: PASSWORD, role })
    const context = await suite.open()
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: suite.url })
    const page = await context.newPage()
    await page.goto(suite.url)
    await suite.fillSignIn(page, PASSWORD, DISPATCHER)
    await deviceRow(page, 'Lorry 7').waitFor()
    const clicks = await countClicks(page)
    await deviceRow(page, 'Lorry 7').click()
    const card = page.getByRole('region', { name: 'Selected device' })
    await card.getByRole('link', { name: 'Share' }).click()
    await preview(page).getByRole('heading', { name: 'Lorry 7' }).waitFor()
    await dialog(page).getByRole('button', { name: 'Create link' }).click()
    await page.getByRole('button', { name: 'Copy Link' }).click()
    await page.getByText('Copied', { exact: true }).waitFor()
    expect(await clicks()).toBeLessThanOrEqual(4)
    const link = await createdLink(page)
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(link)
    expect(await shared(link)).toMatchObject({ name: 'Lorry 7' })
    await page.getByRole('button', { name: 'I’ve saved it' }).click()
    const row = page.getByRole('row').filter({ hasText: 'Lorry 7' })
    await row.getByText(IN_TWO_HOURS).first().waitFor()
    expect(await page.getByRole('link', { name: 'Operators' }).count()).toBe(0)
  })

  test('it shows what viewers will see, and devices get names for the link', async () => {
    await device('tanker-1', 'Tanker of the north')
    await device('tanker-2')
    const page = await suite.signedIn('/shares?device=tanker-1&device=tanker-2')
    const title = dialog(page).getByRole('textbox', { name: 'Name', exact: true })
    const placeholder = () => title.getAttribute('placeholder')
    await eventually(async () => (await placeholder()) === 'Tanker of the north and Device 2')
    await dialog(page).getByRole('textbox', { name: 'tanker-2 is shown as' }).fill('Spare tanker')
    await preview(page)
      .getByRole('heading', { name: 'Tanker of the north and Spare tanker' })
      .waitFor()
    await preview(page).getByText(IN_TWO_HOURS).waitFor()
    await preview(page).getByText('without a trail').waitFor()
    await preview(page).getByText('It may have no network').waitFor()
    await dialog(page).getByLabel('Trail').selectOption('60')
    await preview(page).getByText('with a trail of the last hour').waitFor()
    await title.fill('Oil for Ebensee')
    await preview(page).getByRole('heading', { name: 'Oil for Ebensee' }).waitFor()
    const end = new Date(Date.now() + 10 * 86_400_000).toISOString().slice(0, 10)
    await dialog(page).getByLabel('Lasts').selectOption('Until a time …')
    await fillMoment(dialog(page), 'Expires', end, '12:30 pm')
    await dialog(page)
      .getByText(/It ends \w{3} \d+ \w{3}( \d+)? 12:30/)
      .waitFor()
    await dialog(page).getByRole('button', { name: 'Create link' }).click()
    const link = await createdLink(page)
    await suite.report(
      { deviceId: 'tanker-1', latitude: 48.2, longitude: 16.4 },
      { deviceId: 'tanker-2', latitude: 48.2, longitude: 16.4 },
    )
    await eventually(async () => {
      const { items } = (await shared(link)) as { items: { name: string }[] }
      return items.map(({ name }) => name).join() === 'Tanker of the north,Spare tanker'
    })
    expect(await shared(link)).toMatchObject({ name: 'Oil for Ebensee', trailMinutes: 60 })
  })

  test('a link to a parked van opens with its last known position, as the dialog promised', async () => {
    const timestamp = new Date(Date.now() - 3 * 3_600_000).toISOString()
    await device('parked', 'Parked van', { timestamp })
    const page = await suite.signedIn('/shares?device=parked')
    const shown = preview(page)
    await shown.getByText('Updated 3 hours ago').waitFor()
    await shown
      .getByText('It may have no network. Its last known position is from')
      .first()
      .waitFor()
    await shown.getByText('The map shows its last known place immediately').waitFor()
    const now = dialog(page).getByRole('checkbox', { name: 'Also where it is now' })
    expect(await now.isChecked()).toBe(true)
    expect(await accessFaults(page)).toEqual([])
    await dialog(page).getByRole('button', { name: 'Create link' }).click()
    const guest = await (await suite.open()).newPage()
    await guest.goto(await createdLink(page))
    await guest.getByText(/Updated .*\d\d:\d\d/).waitFor()
    await guest.getByText('It may have no network').waitFor()
  })

  test('a link without the current position is empty until the next report, as the dialog said', async () => {
    await device('secret-yard', 'Van of the yard')
    const page = await suite.signedIn('/shares?device=secret-yard')
    await preview(page).getByText('Updated just now').waitFor()
    const empty = 'No position yet. It appears here when there is one.'
    expect(await preview(page).getByText(empty).count()).toBe(0)
    await dialog(page).getByRole('checkbox', { name: 'Also where it is now' }).uncheck()
    await preview(page).getByText(`Until its next report: “${empty}” Then:`).waitFor()
    expect(await preview(page).getByText('last known place').count()).toBe(0)
    await dialog(page).getByRole('button', { name: 'Create link' }).click()
    const guest = await (await suite.open()).newPage()
    await guest.goto(await createdLink(page))
    await guest.getByText(empty).waitFor()
    await suite.report({ deviceId: 'secret-yard', latitude: 48.2, longitude: 16.4 })
    await guest.getByText(/Updated \d\d:\d\d/).waitFor()
  })

  test('a link for two hours takes two clicks from a device, and says that phones cannot reach its address', async () => {
    await device('friend', 'Friend')
    const page = await suite.signedIn('/?device=friend')
    const card = page.getByRole('region', { name: 'Selected device' })
    const clicks = await countClicks(page)
    await card.getByRole('link', { name: 'Share' }).click()
    await preview(page).getByRole('heading', { name: 'Friend' }).waitFor()
    await dialog(page).getByRole('button', { name: 'Create link' }).click()
    const link = await createdLink(page)
    expect(await clicks()).toBe(2)
    const { expiresAt } = (await shared(link)) as { expiresAt: string }
    const hours = (Date.parse(expiresAt) - Date.now()) / 3_600_000
    expect([hours > 1.9, hours <= 2.01]).toEqual([true, true])
    // The tested service has no other address.
    const made = page.getByRole('dialog', { name: 'Link created' })
    await made.getByText('can be reached only from this computer').waitFor()
    await made.getByRole('button', { name: 'I’ve saved it' }).click()
    const row = page.getByRole('row').filter({ hasText: 'Friend' }).first()
    expect(await row.textContent()).not.toContain('friend')
  })

  test('it fits a phone with long names, light and dark', async () => {
    const id = 'W'.repeat(64)
    await device(id, 'Wwwwww'.repeat(10))
    const viewport = { width: 360, height: 740 }
    const page = await suite.signedIn(`/shares?device=${id}`, { viewport })
    await preview(page).waitFor()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      const widths = await page.evaluate(
        `[document.documentElement, document.querySelector('dialog')].map((one) => one.scrollWidth - one.clientWidth)`,
      )
      expect(widths).toEqual([0, 0])
      expect(await accessFaults(page)).toEqual([])
    }
  })
})
