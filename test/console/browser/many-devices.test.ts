import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { accessFaults } from './access-faults.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite, deviceRow } from './console-harness.ts'

describeConsole('changes to many devices', () => {
  const suite = consoleSuite()

  describe('many devices at once', () => {
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
      await page
        .getByRole('list', { name: 'Labels' })
        .getByText('Spare')
        .waitFor({ state: 'hidden' })
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
      expect((await suite.call('GET', '/devices/van-1')).body.data).toMatchObject({
        disabled: true,
      })
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

  describe('undoing changes', () => {
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
        'car-1',
      ]
      await suite.report(
        ...names.map((deviceId, index) => ({ deviceId, latitude: 48, longitude: 16 + index })),
      )
      await eventually(async () => (await suite.call('GET', '/devices/car-1')).status === 200)
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
      const page = await suite.signedIn('/devices/car-1')
      await page.getByRole('button', { name: 'Settings' }).click()
      await page.getByRole('button', { name: 'Disable', exact: true }).click()
      await eventually(async () => (await device('car-1')).disabled)
      await undo(page).click()
      await page.getByText('Undone').waitFor()
      expect((await device('car-1')).disabled).toBe(false)
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
      const page = await suite.signedIn('/devices/car-1')
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
      expect((await device('car-1')).labels).toEqual([])
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Label')
      await page.clock.fastForward(60_000)
      await page.getByText('Undone').waitFor({ state: 'hidden' })
    })
  })
})
