import { readFile } from 'node:fs/promises'
import { beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { describeConsole } from './chromium.ts'
import { consoleSuite, deviceRow } from './console-harness.ts'

describeConsole('many devices at once', () => {
  const suite = consoleSuite()
  const bar = (page: Page) => page.getByRole('group', { name: 'Many devices' })
  const labelFilter = (page: Page) => page.getByRole('combobox', { name: 'Label' })

  beforeAll(async () => {
    await suite.report(
      ...['lorry-1', 'van-1', 'van-2', 'van-3'].map((deviceId, index) => ({
        deviceId,
        latitude: 48,
        longitude: 16 + index,
        battery: 0.5,
      })),
    )
  })

  async function openList(page: Page, choice: string): Promise<void> {
    await page.getByRole('button', { name: 'List options' }).click()
    await page.getByRole('button', { name: choice }).click()
  }

  test('labels are added to many devices, and the list and the map can be limited to a label', async () => {
    const page = await suite.signedIn('/?q=van')
    await deviceRow(page, 'van-3').waitFor()
    await openList(page, 'Select devices')
    await bar(page).getByRole('button', { name: 'Select all' }).click()
    await page.getByRole('checkbox', { name: 'Select van-3' }).uncheck()
    await bar(page).getByRole('status').getByText('2 selected').waitFor()
    await bar(page).getByRole('button', { name: 'Label' }).click()
    const dialog = page.getByRole('dialog', { name: 'Labels of 2 devices' })
    await dialog.getByRole('textbox', { name: 'New label' }).fill('Night shift')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await page.getByRole('searchbox', { name: 'Search' }).fill('')
    await deviceRow(page, 'lorry-1').waitFor()
    await labelFilter(page).selectOption('Night shift')
    await deviceRow(page, 'lorry-1').waitFor({ state: 'hidden' })
    for (const van of ['van-1', 'van-2']) await deviceRow(page, van).waitFor()
    expect(await page.locator('.device-list [aria-setsize]').count()).toBe(2)
    await page.reload()
    await deviceRow(page, 'van-2').waitFor()
    await deviceRow(page, 'van-2').getByRole('button').click()
    const card = page.getByRole('region', { name: 'Selected device' })
    await card.getByRole('list', { name: 'Labels' }).getByText('Night shift').waitFor()
  })

  test('a label is removed on the page of the device', async () => {
    await suite.call('PATCH', '/devices/van-3', { labels: ['Spare', 'South'] })
    const page = await suite.signedIn('/devices/van-3')
    await page.getByRole('button', { name: 'Label', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Labels' })
    await dialog.getByRole('checkbox', { name: 'Spare' }).uncheck()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('list', { name: 'Labels' }).getByText('Spare').waitFor({ state: 'hidden' })
    await page.getByRole('list', { name: 'Labels' }).getByText('South').waitFor()
  })

  test('the picker of a share finds devices by label', async () => {
    await suite.call('POST', '/devices/labels', { deviceIds: ['van-1', 'van-2'], add: ['East'] })
    const page = await suite.signedIn('/shares')
    await page.getByRole('button', { name: 'New link' }).click()
    await page.getByRole('dialog').getByRole('combobox', { name: 'Label' }).selectOption('East')
    await page.getByRole('button', { name: 'Add all 2' }).click()
    const chosen = page.getByRole('list', { name: 'Chosen devices' })
    expect(await chosen.getByRole('listitem').allTextContents()).toEqual([
      expect.stringContaining('van-1'),
      expect.stringContaining('van-2'),
    ])
  })

  test('selected devices are shared, exported and, after asking, disabled', async () => {
    const page = await suite.signedIn('/?q=van')
    await deviceRow(page, 'van-3').waitFor()
    await openList(page, 'Select devices')
    for (const name of ['Select van-1', 'Select van-3']) {
      await page.getByRole('checkbox', { name }).check()
    }
    const saved = page.waitForEvent('download')
    await bar(page).getByRole('button', { name: 'Export' }).click()
    const csv = await readFile(await (await saved).path(), 'utf8')
    expect(csv.split('\r\n').map((line) => line.split(',')[1])).toEqual([
      'deviceId',
      'van-1',
      'van-3',
      undefined,
    ])
    // The last column is the place name.
    expect(csv.split('\r\n')[1]).toMatch(/[a-z]"?$/i)
    await bar(page).getByRole('button', { name: 'Disable' }).click()
    const dialog = page.getByRole('dialog', { name: 'Disable 2 devices?' })
    await dialog.getByRole('button', { name: 'Disable' }).click()
    await deviceRow(page, 'van-3').getByText('Disabled').waitFor()
    expect((await suite.call('GET', '/devices/van-1')).body.data).toMatchObject({ disabled: true })
    await bar(page).getByRole('button', { name: 'Share' }).click()
    await page.waitForURL(/\/shares\?device=van-1&device=van-3$/)
  })

  test('the list shows the chosen columns, and its address keeps them', async () => {
    const page = await suite.signedIn()
    await deviceRow(page, 'lorry-1').waitFor()
    await page.getByRole('button', { name: 'List options' }).click()
    await page.getByRole('checkbox', { name: 'Battery' }).check()
    await deviceRow(page, 'lorry-1').getByText('50 %').waitFor()
    await page.getByRole('checkbox', { name: 'Battery' }).uncheck()
    await page.getByRole('checkbox', { name: 'Reports' }).check()
    await page.keyboard.press('Escape')
    await deviceRow(page, 'lorry-1').getByText('1 report').waitFor()
    expect(await deviceRow(page, 'lorry-1').getByText('50 %').count()).toBe(0)
    await page.reload()
    await deviceRow(page, 'lorry-1').getByText('1 report').waitFor()
  })
})
