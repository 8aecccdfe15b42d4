import { beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { accessFaults } from './access-faults.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite, deviceRow } from './console-harness.ts'

describeConsole('undoing changes', () => {
  const suite = consoleSuite()
  const bar = (page: Page) => page.getByRole('group', { name: 'Many devices' })
  const undo = (page: Page) => page.getByRole('button', { name: 'Undo' })

  beforeAll(async () => {
    const names = [
      'bus-1',
      'bus-2',
      'bus-3',
      'cab-1',
      'cab-2',
      'cab-3',
      'rail-1',
      'rail-2',
      'tram-1',
      'tram-2',
      'van-1',
    ]
    await suite.report(
      ...names.map((deviceId, index) => ({ deviceId, latitude: 48, longitude: 16 + index })),
    )
    await eventually(async () => (await suite.call('GET', '/devices/van-1')).status === 200)
  })

  async function device(deviceId: string): Promise<{ disabled: boolean; labels: string[] }> {
    return (await suite.call('GET', `/devices/${deviceId}`)).body.data
  }

  /** The devices of the search, all of them selected. */
  async function selectAll(page: Page): Promise<void> {
    await page.getByRole('button', { name: 'List options' }).click()
    await page.getByRole('button', { name: 'Select devices' }).click()
    await bar(page).getByRole('button', { name: 'Select all' }).click()
  }

  test('a device is disabled on its page and enabled again by Undo', async () => {
    const page = await suite.signedIn('/devices/van-1')
    await page.getByRole('button', { name: 'Settings' }).click()
    await page.getByRole('button', { name: 'Disable', exact: true }).click()
    await eventually(async () => (await device('van-1')).disabled)
    await undo(page).click()
    await page.getByText('Undone').waitFor()
    expect((await device('van-1')).disabled).toBe(false)
    await page.getByRole('button', { name: 'Settings' }).click()
    await page.getByRole('button', { name: 'Disable', exact: true }).waitFor()
  })

  test('Undo appears in front of a dialog opened in the meantime, and can be pressed', async () => {
    const page = await suite.signedIn('/devices/tram-1')
    await page.getByRole('button', { name: 'Settings' }).click()
    await page.getByRole('button', { name: 'Disable', exact: true }).click()
    await undo(page).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Label', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Labels' })
    await dialog.getByRole('button', { name: 'Undo' }).waitFor()
    expect(await accessFaults(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Undo' }).click()
    await dialog.getByText('Undone').waitFor()
    expect((await device('tram-1')).disabled).toBe(false)
  })

  test('a device already disabled stays disabled when disabling many is undone', async () => {
    await suite.call('PATCH', '/devices/bus-1', { disabled: true })
    const page = await suite.signedIn('/?q=bus')
    await deviceRow(page, 'bus-3').waitFor()
    await selectAll(page)
    await bar(page).getByRole('button', { name: 'Disable' }).click()
    const dialog = page.getByRole('dialog', { name: 'Disable 2 devices?' })
    await dialog.getByRole('button', { name: 'Disable' }).click()
    await deviceRow(page, 'bus-3').getByText('Disabled').waitFor()
    await undo(page).waitFor()
    await page.keyboard.press('z')
    await page.getByText('Undone').waitFor()
    const states = ['bus-1', 'bus-2', 'bus-3'].map(async (id) => (await device(id)).disabled)
    expect(await Promise.all(states)).toEqual([true, false, false])

    await bar(page).getByRole('button', { name: 'Enable' }).click()
    await eventually(async () => !(await device('bus-1')).disabled)
    await undo(page).click()
    await eventually(async () => (await device('bus-1')).disabled)
  })

  test('a device that somebody else has disabled meanwhile stays disabled when the change is undone', async () => {
    const page = await suite.signedIn('/?q=rail')
    await deviceRow(page, 'rail-2').waitFor()
    await selectAll(page)
    await suite.call('PATCH', '/devices/rail-1', { disabled: true })
    await bar(page).getByRole('button', { name: 'Disable' }).click()
    const dialog = page.getByRole('dialog', { name: 'Disable 2 devices?' })
    await dialog.getByRole('button', { name: 'Disable' }).click()
    await deviceRow(page, 'rail-1').getByText('Disabled').waitFor()
    await deviceRow(page, 'rail-2').getByText('Disabled').waitFor()
    await undo(page).click()
    await page.getByText('Undone').waitFor()
    expect((await device('rail-1')).disabled).toBe(true)
    expect((await device('rail-2')).disabled).toBe(false)
    await deviceRow(page, 'rail-1').getByText('Disabled').waitFor()
  })

  test('undoing restores the labels of many devices, each as before', async () => {
    const before = { 'cab-1': ['Day', 'Old'], 'cab-2': ['Old'], 'cab-3': ['Day'] }
    for (const [deviceId, labels] of Object.entries(before)) {
      await suite.call('PATCH', `/devices/${deviceId}`, { labels })
    }
    const page = await suite.signedIn('/?q=cab')
    await deviceRow(page, 'cab-3').waitFor()
    await selectAll(page)
    await bar(page).getByRole('button', { name: 'Label' }).click()
    const dialog = page.getByRole('dialog', { name: 'Labels of 3 devices' })
    const old = dialog.getByRole('checkbox', { name: 'Old' })
    await old.check()
    await old.uncheck()
    await dialog.getByRole('checkbox', { name: 'Day' }).check()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect((await device('cab-2')).labels).toEqual(['Day'])
    await undo(page).click()
    await page.getByText('Undone').waitFor()
    for (const [deviceId, labels] of Object.entries(before)) {
      expect((await device(deviceId)).labels.sort()).toEqual(labels)
    }
  })

  test('selected devices hidden by a filter are counted and not changed', async () => {
    const page = await suite.signedIn('/?q=tram')
    await deviceRow(page, 'tram-2').waitFor()
    await selectAll(page)
    await bar(page).getByRole('status').getByText('2 selected').waitFor()
    await page.getByRole('searchbox', { name: 'Search' }).fill('tram-2')
    await bar(page).getByRole('status').getByText('1 selected · 1 hidden by the filter').waitFor()
    await bar(page).getByRole('button', { name: 'Disable' }).click()
    const dialog = page.getByRole('dialog', { name: 'Disable 1 device?' })
    await dialog.getByRole('button', { name: 'Disable' }).click()
    await eventually(async () => (await device('tram-2')).disabled)
    expect((await device('tram-1')).disabled).toBe(false)
  })

  test('Undo can be reached by keyboard, stays while it has the focus, and returns the focus', async () => {
    const page = await suite.signedIn('/devices/van-1')
    await page.clock.install()
    await page.reload()
    await page.getByRole('button', { name: 'Label', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Labels' })
    await dialog.getByRole('textbox', { name: 'New label' }).fill('Spare')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Label', exact: true }).focus()
    await page.clock.fastForward(15_000)
    await undo(page).focus()
    await page.clock.fastForward(60_000)
    await page.keyboard.press('Enter')
    await page.getByText('Undone').waitFor()
    expect((await device('van-1')).labels).toEqual([])
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Label')
    await page.clock.fastForward(60_000)
    await page.getByText('Undone').waitFor({ state: 'hidden' })
  })
})
