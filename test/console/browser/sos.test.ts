import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { accessFaults } from './access-faults.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite, PASSWORD } from './console-harness.ts'

/** Counts the tones that the page plays. */
const COUNT_TONES = `
window.tones = 0
const start = OscillatorNode.prototype.start
OscillatorNode.prototype.start = function (...when) {
  window.tones += 1
  return start.apply(this, when)
}`

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

  /** A page of a new operator, who has looked at nothing yet. */
  async function signedIn(email: string, path: string, options = {}): Promise<Page> {
    await suite.made('/operators', { email, password: PASSWORD, role: 'viewer' })
    const context = await suite.open(options)
    await context.addInitScript(COUNT_TONES)
    const page = await context.newPage()
    await page.goto(suite.url + path)
    await suite.fillSignIn(page, PASSWORD, email)
    await page.getByRole('navigation', { name: 'Console' }).waitFor()
    return page
  }

  test('it is shown on every page until the operator has looked at it', async () => {
    await callForHelp('walker-1')
    await eventually(async () => (await suite.call('GET', '/devices/walker-1')).status === 200)
    await suite.call('PATCH', '/devices/walker-1', { name: 'Lone walker' })
    const page = await signedIn('one@example.org', '/keys')
    await banner(page).filter({ hasText: 'Lone walker sent an SOS' }).waitFor()
    for (const path of ['/', '/system', '/events', '/devices/walker-1']) {
      await page.goto(suite.url + path)
      await banner(page).waitFor()
    }
    await page.goto(`${suite.url}/rules`)
    await banner(page).getByRole('link', { name: 'Show' }).click()
    await page.getByRole('heading', { name: /^At \d\d:\d\d:\d\d/ }).waitFor()
    await banner(page).waitFor({ state: 'detached' })
    await page.goto(`${suite.url}/keys`)
    await page.getByRole('heading', { name: 'Keys' }).waitFor()
    expect(await banner(page).count()).toBe(0)
  })

  test('one that arrives late, and one while the page is open, are shown too; a low battery is not an SOS', async () => {
    const page = await signedIn('two@example.org', '/connect')
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

  test('several are seen with one click', async () => {
    for (const n of [4, 5, 6, 7]) await callForHelp(`walker-${n}`)
    const page = await signedIn('three@example.org', '/keys')
    await banner(page)
      .getByText(/And \d+ more SOS/)
      .waitFor()
    await banner(page).getByRole('button', { name: 'I have seen them all' }).click()
    await banner(page).waitFor({ state: 'detached' })
  })

  test('it rings only where the operator has switched the sound on, until it was looked at', async () => {
    await callForHelp('walker-8')
    const page = await signedIn('four@example.org', '/keys')
    const tones = () => page.evaluate<number>('window.tones')
    await banner(page).waitFor()
    expect(await tones()).toBe(0)
    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByRole('combobox', { name: 'Sound on SOS' }).selectOption('on')
    await eventually(async () => (await tones()) > 2)
    await page.keyboard.press('Escape')
    await banner(page).getByRole('button', { name: 'I have seen them all' }).click()
    await banner(page).waitFor({ state: 'detached' })
    const heard = await tones()
    await suite.pause(6_000)
    expect(await tones()).toBe(heard)
  })

  test.each([
    ['light', 390],
    ['dark', 390],
    ['light', 1_024],
    ['dark', 1_400],
  ] as const)(
    'it is in order for assistive technology, %s at %d px',
    async (colorScheme, width) => {
      await callForHelp('W'.repeat(64))
      const viewport = { width, height: 800 }
      const page = await suite.signedIn('/', { colorScheme, viewport })
      await banner(page).waitFor()
      expect(await accessFaults(page)).toEqual([])
      const [high, frame] = await page.evaluate<number[]>(
        `['.frame', 'html'].map((one) => document.querySelector(one).scrollHeight)`,
      )
      expect([high, frame]).toEqual([800, 800])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
    },
  )
})
