import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { accessFaults } from './access-faults.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite, deviceRow } from './console-harness.ts'
import { paintedText } from './painted.ts'

const CIRCLE = { type: 'circle', latitude: 48.2, longitude: 16.4, radius: 20_000 }

describeConsole('geofences and rules on the map page', () => {
  const suite = consoleSuite()

  const report = (deviceId: string, more: object = {}) =>
    suite.report({ deviceId, latitude: 48.2, longitude: 16.4, ...more })

  async function hasItems(path: string): Promise<boolean> {
    const { body } = await suite.call('GET', path)
    return (body.data as { items: object[] }).items.length > 0
  }

  const rows = (page: Page) => page.getByRole('list', { name: 'Devices' }).getByRole('listitem')

  test('a switch shows geofences on the map, and remembers its state', async () => {
    await suite.made('/geofences', { name: 'Big yard', shape: CIRCLE })
    await report('van-1')
    const page = await suite.signedIn('/')
    await deviceRow(page, 'van-1').waitFor()
    const button = page.getByRole('button', { name: 'Geofences', exact: true })
    expect(await paintedText(page, 'Big yard')).toBe(null)
    await button.click()
    await eventually(async () => (await paintedText(page, 'Big yard')) !== null)
    expect(await accessFaults(page)).toEqual([])
    await page.reload()
    await eventually(async () => (await paintedText(page, 'Big yard')) !== null)
    expect(await button.getAttribute('aria-pressed')).toBe('true')
  })

  test('the list has only the devices in a geofence, and follows them in and out', async () => {
    const shape = { ...CIRCLE, latitude: 10 }
    const { id } = await suite.made('/geofences', { name: 'Field', shape })
    await eventually(async () => {
      await report('tractor-1', { latitude: 10 })
      return hasItems(`/geofences/${id}/devices`)
    })
    await report('tractor-2', { latitude: 20 })
    const page = await suite.signedIn('/')
    await deviceRow(page, 'tractor-2').waitFor()
    await page.getByRole('combobox', { name: 'Geofence' }).selectOption(id)
    await deviceRow(page, 'tractor-2').waitFor({ state: 'detached' })
    await deviceRow(page, 'tractor-1').waitFor()
    expect(new URL(page.url()).searchParams.get('geofence')).toBe(id)
    // Only a circle wide enough on the map shows its name.
    await page.getByRole('button', { name: 'Fit all' }).click()
    await eventually(async () => (await paintedText(page, 'Field')) !== null)
    await report('tractor-2', { latitude: 10 })
    await deviceRow(page, 'tractor-2').waitFor()
    await report('tractor-1', { latitude: 30 })
    await deviceRow(page, 'tractor-1').waitFor({ state: 'detached' })
  })

  test('a raised rule marks the row until it is cleared, and the list can show only such devices', async () => {
    const when = { field: 'temperature', above: 30 }
    const { id } = await suite.made('/rules', { name: 'Hot', when })
    const heat = (deviceId: string, temperature: number) =>
      report(deviceId, { latitude: 0, attributes: { temperature } })
    await eventually(async () => {
      await heat('oven-1', 40)
      return hasItems(`/rules/${id}/devices`)
    })
    await heat('oven-2', 20)
    const page = await suite.signedIn('/')
    await deviceRow(page, 'oven-1').getByText('Hot').waitFor()
    await deviceRow(page, 'oven-2').waitFor()
    expect(await deviceRow(page, 'oven-2').getByText('Hot').count()).toBe(0)
    await heat('oven-2', 50)
    await deviceRow(page, 'oven-2').getByText('Hot').waitFor()
    await page.getByRole('combobox', { name: 'Rule raised' }).selectOption(id)
    await eventually(async () => (await rows(page).count()) === 2)
    await heat('oven-1', 10)
    await deviceRow(page, 'oven-1').waitFor({ state: 'detached' })
    await heat('oven-2', 10)
    await page.getByRole('heading', { name: 'No device matches' }).waitFor()
    await page.getByRole('button', { name: 'Show all' }).click()
    await deviceRow(page, 'oven-1').waitFor()
    expect(await deviceRow(page, 'oven-1').getByText('Hot').count()).toBe(0)
  })
})
