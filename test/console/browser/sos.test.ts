import { beforeEach, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { faultsInLooks } from './access-faults.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite, follow, PASSWORD } from './console-harness.ts'

/** Counts the tones that the page plays. */
const COUNT_TONES = `
window.tones = 0
const start = OscillatorNode.prototype.start
OscillatorNode.prototype.start = function (...when) {
  window.tones += 1
  return start.apply(this, when)
}`

/** Pixels in the red of alarms on the map; one canvas has the geofences, another the devices. */
function redPixels(page: Page): Promise<number> {
  return page.evaluate(`[...document.querySelectorAll('.fleet-canvas')].reduce((count, canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    for (let at = 0; at < data.length; at += 4) {
      if (data[at] === 0xad && data[at + 1] === 0x22 && data[at + 2] === 0x1a) count += 1
    }
    return count
  }, 0)`)
}

describeConsole('an SOS', () => {
  const suite = consoleSuite()
  const banner = (page: Page) => page.getByRole('alert').filter({ hasText: 'sent an SOS' })

  const callForHelp = (deviceId: string, more: object = {}) =>
    suite.report({
      deviceId,
      latitude: 48.2,
      longitude: 16.4,
      attributes: { alarm: 'sos' },
      ...more,
    })

  async function signedIn(email: string, path: string): Promise<Page> {
    await suite.made('/operators', { email, password: PASSWORD, role: 'dispatcher' })
    const context = await suite.open()
    await context.addInitScript(COUNT_TONES)
    const page = await context.newPage()
    await page.goto(suite.url + path)
    await suite.fillSignIn(page, PASSWORD, email)
    await page.getByRole('navigation', { name: 'Console' }).waitFor()
    return page
  }

  const button = (page: Page, name: string) => banner(page).getByRole('button', { name })

  /** Closes all alarms of earlier tests. */
  async function closeAll(): Promise<void> {
    const { body } = await suite.call('GET', '/facts?type=alarm.reported')
    const { items } = body.data as { items: { id: string; handling?: { state: string } }[] }
    for (const { id, handling } of items) {
      if (handling !== undefined) await suite.call('POST', `/facts/${id}/release`, {})
      await suite.call('POST', `/facts/${id}/close`, {})
    }
  }

  beforeEach(closeAll)

  test('everybody sees it on every page until it is closed, with who has taken it', async () => {
    await callForHelp('walker-1')
    await eventually(async () => (await suite.call('GET', '/devices/walker-1')).status === 200)
    await suite.call('PATCH', '/devices/walker-1', { name: 'Lone walker' })
    const ana = await signedIn('one@example.org', '/keys')
    const ben = await signedIn('other@example.org', '/rules')
    await banner(ana).filter({ hasText: 'Lone walker sent an SOS' }).waitFor()
    for (const name of ['Map', 'System', 'Events']) {
      await follow(ana, name)
      await ana.getByRole('heading', { level: 1, name }).waitFor({ state: 'attached' })
      await banner(ana).waitFor()
    }
    await banner(ben).waitFor()
    await button(ana, 'Take: SOS of Lone walker').click()
    await banner(ana)
      .getByText(/Taken by you, \d\d:\d\d/)
      .waitFor()
    await banner(ben)
      .getByText(/Taken by one@example\.org, \d\d:\d\d/)
      .waitFor({ timeout: 15_000 })
    expect(await button(ben, 'Take: SOS of Lone walker').count()).toBe(0)
    const row = ben.getByRole('list', { name: 'Events' }).getByRole('listitem').first()
    await ben.goto(`${suite.url}/events?type=alarm.reported`)
    await row.getByText('Taken by one@example.org').waitFor()
    await button(ana, 'Close: SOS of Lone walker').click()
    const dialog = ana.getByRole('dialog', { name: 'Close the alarm' })
    await dialog.getByRole('textbox', { name: 'Note' }).fill('False alarm')
    await dialog.getByRole('button', { name: 'Close the alarm' }).click()
    await banner(ana).waitFor({ state: 'detached' })
    await banner(ben).waitFor({ state: 'detached', timeout: 15_000 })
    await row.getByText('False alarm').waitFor()
  })

  test('two operators who take it concurrently learn who was first', async () => {
    await callForHelp('walker-9')
    const page = await signedIn('late@example.org', '/keys')
    await button(page, 'Take: SOS of walker-9').waitFor()
    // Its own stream and list update after the click.
    await page.route(/\/(stream|facts\?)/, (route) => route.abort())
    const { body } = await suite.call('GET', '/facts?type=alarm.reported&deviceId=walker-9')
    const [{ id } = { id: '' }] = (body.data as { items: { id: string }[] }).items
    await suite.call('POST', `/facts/${id}/take`, {})
    await button(page, 'Take: SOS of walker-9').click()
    await banner(page)
      .getByText(/has taken it/)
      .waitFor()
  })

  test('the map shows where the SOS was sent and where the device is, with a ring, and its row on top', async () => {
    await suite.report({ deviceId: 'aaa', latitude: 48.3, longitude: 16.3 })
    await callForHelp('walker-map')
    await suite.report({ deviceId: 'walker-map', latitude: 48.21, longitude: 16.42 })
    const page = await suite.signedIn('/keys')
    await banner(page).getByRole('link', { name: 'Show' }).click()
    const card = page.getByRole('region', { name: 'Selected device' })
    await card.getByRole('button', { name: 'Take: SOS of walker-map' }).waitFor()
    const first = page.getByRole('list', { name: 'Devices' }).locator('[data-index="0"]')
    await first.filter({ hasText: 'walker-map' }).waitFor()
    expect(await first.textContent()).toContain('SOS')
    // The ring and the triangle at the position, in the red of alarms.
    await eventually(async () => (await redPixels(page)) > 60)
    await card.getByRole('button', { name: 'Close: SOS of walker-map' }).click()
    await page
      .getByRole('dialog', { name: 'Close the alarm' })
      .getByRole('button', { name: 'Close the alarm' })
      .click()
    await eventually(async () => (await redPixels(page)) === 0)
  })

  test('an SOS that arrives late or while the page is open is shown too; a low battery is not an SOS', async () => {
    const page = await suite.signedIn('/connect')
    const timestamp = new Date(Date.now() - 3 * 3_600_000).toISOString()
    await suite.report({ deviceId: 'walker-2', latitude: 48, longitude: 16 })
    await suite.report({
      deviceId: 'walker-3',
      latitude: 48,
      longitude: 16,
      attributes: { alarm: 'lowBattery' },
    })
    await callForHelp('walker-2', { timestamp })
    await banner(page).filter({ hasText: 'walker-2 sent an SOS, which arrived late' }).waitFor()
    expect(await banner(page).textContent()).not.toContain('walker-3')
  })

  test('one click closes several', async () => {
    for (const n of [4, 5, 6, 7]) await callForHelp(`walker-${n}`)
    const page = await suite.signedIn('/keys')
    await banner(page)
      .getByText(/And \d+ more SOS/)
      .waitFor()
    await button(page, 'Close them all').click()
    await banner(page).waitFor({ state: 'detached' })
  })

  test('it rings only if the operator has switched the sound on, until somebody takes it', async () => {
    await callForHelp('walker-8')
    const page = await signedIn('four@example.org', '/keys')
    const tones = () => page.evaluate<number>('window.tones')
    await banner(page).waitFor()
    expect(await tones()).toBe(0)
    await page.clock.install()
    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByRole('combobox', { name: 'Sound on SOS' }).selectOption('on')
    await eventually(async () => (await tones()) > 0)
    const first = await tones()
    await page.clock.fastForward(6_000)
    await eventually(async () => (await tones()) > first)
    await page.keyboard.press('Escape')
    await button(page, 'Take: SOS of walker-8').click()
    await banner(page).getByText('Taken by you').waitFor()
    // The ring ends just after the drawing.
    await page.clock.runFor(200)
    const heard = await tones()
    await page.clock.fastForward(12_000)
    expect(await tones()).toBe(heard)
  })

  test('it is accessible, and makes no page longer or wider, on a phone and a desktop', async () => {
    await callForHelp('W'.repeat(60))
    const page = await suite.signedIn('/')
    await banner(page).waitFor()
    expect(await faultsInLooks(page)).toEqual([])
    for (const width of [390, 1_024, 1_400]) {
      await page.setViewportSize({ width, height: 800 })
      const sizes = await page.evaluate<number[]>(
        `['.frame', 'html'].map((one) => document.querySelector(one).scrollHeight)`,
      )
      expect([width, ...sizes]).toEqual([width, 800, 800])
    }
  })
})
