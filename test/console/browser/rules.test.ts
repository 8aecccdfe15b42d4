import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { faultsInLooks, ON_PHONE } from './access-faults.ts'
import { describeConsole } from './chromium.ts'
import { chooseAction, consoleSuite } from './console-harness.ts'

const CIRCLE = { type: 'circle', latitude: 48.2, longitude: 16.4, radius: 200 }

describeConsole('the rules page', () => {
  const suite = consoleSuite()

  const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text })
  const dialog = (page: Page, name = 'New rule') => page.getByRole('dialog', { name })
  const save = (page: Page) => page.getByRole('button', { name: 'Save' }).click()

  async function rules(): Promise<readonly { id: string; name: string; when: object }[]> {
    const { body } = await suite.call('GET', '/rules')
    return (body.data as { items: { id: string; name: string; when: object }[] }).items
  }

  const stored = async (name: string) => (await rules()).find((one) => one.name === name)

  async function newRule(page: Page, preset: string): Promise<void> {
    await page.getByRole('button', { name: 'New rule' }).click()
    await dialog(page).getByLabel('When').selectOption(preset)
  }

  test('a speed is entered in the operator’s unit, and stored in metres a second', async () => {
    const page = await suite.signedIn('/rules')
    await newRule(page, 'Faster than …')
    await dialog(page).getByLabel('Limit, km/h').fill('90')
    await dialog(page).getByLabel('Ends at, km/h').fill('72')
    await dialog(page).getByLabel('For longer than, minutes').fill('1')
    await save(page)
    await row(page, 'Faster than 90 km/h for 1 min, until below 72 km/h').first().waitFor()
    const [rule] = await rules()
    expect(rule).toMatchObject({
      when: { field: 'speed', above: 25, clear: 20 },
      forSeconds: 60,
      enabled: true,
    })
  })

  test('each preset becomes a sentence of the list', async () => {
    const { id } = await suite.made('/geofences', { name: 'Yard', shape: CIRCLE })
    const page = await suite.signedIn('/rules', { locale: 'en' })
    const minutes = () => dialog(page).getByLabel('For longer than, minutes')
    await newRule(page, 'Longer than … at …')
    await save(page)
    await dialog(page).getByText('Choose a geofence.').waitFor()
    await dialog(page).getByLabel('Geofence', { exact: true }).selectOption(id)
    await minutes().fill('120')
    await save(page)
    await row(page, 'At Yard for 2 h').first().waitFor()
    await newRule(page, 'Warmer than …')
    await dialog(page).getByLabel('Limit, °C').fill('-15')
    await dialog(page).getByText('Only in some geofences').click()
    await dialog(page).getByRole('combobox', { name: 'Geofences' }).fill('yard')
    await dialog(page).getByRole('option', { name: 'Yard' }).click()
    await dialog(page).getByLabel('Name').fill('Freezer is warm')
    await save(page)
    await row(page, 'Warmer than -15 °C, in Yard').first().waitFor()
    await newRule(page, 'Battery below …')
    await dialog(page).getByLabel('Limit, %').fill('20')
    await save(page)
    await row(page, 'Battery below 20 %').first().waitFor()
    await newRule(page, 'Silent for …')
    await save(page)
    await dialog(page).getByText('Enter the minutes').waitFor()
    await minutes().fill('60')
    await save(page)
    await row(page, 'Silent for 1 h').first().waitFor()
    await newRule(page, 'Parked for …')
    await minutes().fill('30')
    await save(page)
    await row(page, 'Parked for 30 min').first().waitFor()
    await newRule(page, 'Ignition on')
    await save(page)
    await row(page, 'Ignition on').first().waitFor()
    await newRule(page, 'Another value …')
    await dialog(page).getByLabel('Value of').fill('doorOpen')
    await dialog(page).getByLabel('Comparison').selectOption('Is')
    await dialog(page).getByLabel('Value', { exact: true }).fill('true')
    await save(page)
    await row(page, 'doorOpen on').first().waitFor()
    expect(await stored('Freezer is warm')).toMatchObject({
      when: { field: 'temperature', above: -15 },
      geofenceIds: [id],
    })
    expect(await stored('doorOpen on')).toMatchObject({ when: { field: 'doorOpen', is: true } })
  })

  test('a rule is changed, disabled, enabled and deleted', async () => {
    await suite.made('/rules', { name: 'Changing', when: { field: 'battery', below: 0.2 } })
    const page = await suite.signedIn('/rules')
    await chooseAction(page, 'Change', 'Changing')
    const changed = dialog(page, 'Change rule')
    expect(await changed.getByLabel('Limit, %').inputValue()).toBe('20')
    await changed.getByLabel('Limit, %').fill('15')
    await save(page)
    await row(page, 'Changing').getByText('Battery below 15 %').waitFor()
    await chooseAction(page, 'Disable', 'Changing')
    await page.getByRole('button', { name: 'Disable rule' }).click()
    await row(page, 'Changing').getByText('disabled').waitFor()
    await chooseAction(page, 'Enable', 'Changing')
    await page.getByRole('button', { name: 'Enable rule' }).click()
    await row(page, 'Changing').getByText('disabled').waitFor({ state: 'hidden' })
    expect(await stored('Changing')).toMatchObject({ when: { below: 0.15 }, enabled: true })
    await chooseAction(page, 'Delete', 'Changing')
    await page.getByRole('button', { name: 'Delete rule' }).click()
    await row(page, 'Changing').waitFor({ state: 'detached' })
    expect(await stored('Changing')).toBeUndefined()
  })

  test('a rule names the devices for which it is raised now', async () => {
    const when = { field: 'temperature', above: 30 }
    const { id } = await suite.made('/rules', { name: 'Hot', when })
    await eventually(async () => {
      await suite.report({
        deviceId: 'lorry-1',
        latitude: 1,
        longitude: 1,
        attributes: { temperature: 40 },
      })
      const { body } = await suite.call('GET', `/rules/${id}/devices`)
      return (body.data as { items: object[] }).items.length === 1
    })
    const page = await suite.signedIn('/rules')
    await row(page, 'Hot').getByRole('link', { name: 'lorry-1' }).waitFor()
    await chooseAction(page, 'Events', 'Hot')
    await page.waitForURL((url) => url.searchParams.get('ruleId') === id)
    const events = page.getByRole('list', { name: 'Events' }).getByRole('listitem')
    await events.filter({ hasText: 'lorry-1: Hot · 40 °C' }).waitFor()
  })

  test('a long name of a rule is shown in full', async () => {
    const long = 'Longer than 120 minutes away from the northern depot'
    await suite.made('/rules', { name: long, when: { field: 'speed', above: 20 } })
    const page = await suite.signedIn('/rules')
    const cell = row(page, long).getByRole('cell').first()
    await cell.getByText(long).waitFor()
    const [room, name] = await Promise.all([cell.boundingBox(), cell.getByText(long).boundingBox()])
    if (!room || !name) throw new Error('the name is not shown')
    expect(name.x + name.width).toBeLessThanOrEqual(room.x + room.width)
  })

  test('it is accessible and fits a phone, light and dark', async () => {
    await suite.made('/rules', { name: 'W'.repeat(64), when: { field: 'speed', above: 20 } })
    const page = await suite.signedIn('/rules', { viewport: { width: 390, height: 800 } })
    await row(page, 'W'.repeat(64)).first().waitFor()
    expect(await faultsInLooks(page, ON_PHONE)).toEqual([])
    await newRule(page, 'Another value …')
    await dialog(page).getByLabel('Some devices').check()
    expect(await faultsInLooks(page, ON_PHONE)).toEqual([])
  })
})
