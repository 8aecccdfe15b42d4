import { describe, expect, test } from '@jest/globals'
import type { Page, Route } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { describeConsole } from './chromium.ts'
import { secretOf } from './connecting.ts'
import { chooseAction, consoleSuite } from './console-harness.ts'
import { fillMoment } from './fill-moment.ts'

const MARKUP = '<img src=x onerror=alert(1)>'

const KEYS = 120

describeConsole('keys, their rejections and long lists', () => {
  const suite = consoleSuite()
  let stacked: Promise<void> | undefined

  /** More keys than one page of the list holds. */
  function hay(): Promise<void> {
    stacked ??= (async () => {
      for (let made = 0; made < KEYS; made += 1) await suite.made('/keys', { name: `Hay ${made}` })
    })()
    return stacked
  }

  describe('keys', () => {
    test('a message that arrives while a dialog is open appears in it', async () => {
      const page = await suite.signedIn('/keys')
      await page.getByRole('button', { name: 'New key' }).click()
      await page.getByRole('textbox', { name: 'Name' }).fill('Announced')
      await page.getByRole('button', { name: 'Create key' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('button', { name: 'Copy' }).first().click()
      await dialog
        .getByRole('status')
        .getByText(/cop(ied|ied: select it)/)
        .waitFor()
      for (let times = 0; times < 5; times += 1) await page.keyboard.press('Escape')
      expect(await secretOf(page)).toMatch(/^gps_/)
    })

    test('keys are created, found, given a new secret and revoked, and markup in a name stays text', async () => {
      const page = await suite.signedIn('/keys')
      await page.getByRole('button', { name: 'New key' }).click()
      await page.getByRole('textbox', { name: 'Name' }).fill(MARKUP)
      await page.getByRole('button', { name: 'Create key' }).click()
      const key = await secretOf(page)
      await page.getByRole('button', { name: 'I’ve saved it' }).click()
      const row = page.getByRole('row').filter({ hasText: MARKUP })
      await chooseAction(page, 'Replace secret', MARKUP)
      await page.getByRole('dialog').getByRole('button', { name: 'Replace secret' }).click()
      const renewed = await secretOf(page)
      expect(renewed).not.toBe(key)
      await page.getByText('The old secret works until').waitFor()
      await page.getByRole('button', { name: 'I’ve saved it' }).click()
      await row.getByText('Secret replaced').waitFor()

      await page.getByRole('button', { name: 'Which key is this?' }).click()
      await page.getByLabel('Secret', { exact: true }).fill(key)
      await page.getByRole('button', { name: 'Find' }).click()
      await page.getByRole('dialog').getByText(MARKUP).waitFor()
      await page.keyboard.press('Escape')

      const [first = '', second = ''] = ['of that key', 'of it too']
      for (const deviceId of [first, second])
        await suite.submit(renewed, { deviceId, latitude: 1, longitude: 2 })
      await eventually(async () => {
        const { body } = await suite.call('GET', '/devices?q=that%20key')
        return (body as { data: { items: unknown[] } }).data.items.length === 1
      })
      await chooseAction(page, 'Devices', MARKUP)
      const devices = page.getByRole('list', { name: 'Devices of the key' })
      await devices.getByRole('link', { name: first }).waitFor()
      await page.keyboard.press('Escape')

      await chooseAction(page, 'Revoke', MARKUP)
      await devices.getByRole('link', { name: second }).waitFor()
      await page.getByRole('button', { name: 'Revoke key' }).click()
      await row.getByText('Revoked').waitFor()
      expect(await suite.submit(key, { deviceId: 'a', latitude: 1, longitude: 2 })).toBe(401)
    })

    test('one of thousands of keys is found by name, filtered and sorted, and named in its rejections', async () => {
      const { id } = await suite.made('/keys', { name: 'Needle 07' })
      await hay()
      const page = await suite.signedIn('/keys')
      const rows = page.getByRole('table').getByRole('row')
      await rows.nth(100).waitFor()
      expect(await rows.filter({ hasText: 'Needle 07' }).count()).toBe(0)
      await page.getByRole('searchbox', { name: 'Search keys' }).fill('needle 7')
      await rows.filter({ hasText: 'Needle 07' }).waitFor()
      expect(await rows.count()).toBe(2)
      await page.getByRole('combobox', { name: 'Status' }).selectOption('Revoked')
      await page.getByRole('heading', { name: 'No keys match these filters' }).waitFor()
      await page.getByRole('button', { name: 'Show all' }).click()
      await page.getByRole('searchbox', { name: 'Search keys' }).fill('hay')
      await page.getByRole('combobox', { name: 'Order' }).selectOption('By name')
      await rows.nth(1).getByRole('link', { name: 'Hay 0', exact: true }).waitFor()
      await rows.nth(11).getByRole('link', { name: 'Hay 10', exact: true }).waitFor()
      await page.goto(`${suite.url}/rejections?keyId=${id}`)
      const filter = page.getByRole('combobox', { name: 'Key' })
      await eventually(async () => (await filter.inputValue()) === 'Needle 07')
    })
  })

  describe('rejections', () => {
    test('a rejection appears on its page without a reload, as plain text', async () => {
      const { key } = await suite.made('/keys', { name: `Key ${MARKUP}` })
      const page = await suite.signedIn('/rejections')
      await page
        .getByText('When a report is rejected')
        .or(page.getByRole('table'))
        .first()
        .waitFor()
      await suite.submit(key, { deviceId: `live ${MARKUP}`, latitude: 95, longitude: 1 })
      const row = page.getByRole('row').filter({ hasText: `live ${MARKUP}` })
      await row.waitFor()
      await row.getByText('bytes').click()
      await row.locator('pre').getByText(MARKUP).waitFor()
      await row.getByText(`Key ${MARKUP}`).waitFor()
    })

    test('rejections are counted, and can be searched by cause, device, key and time', async () => {
      const { key } = await suite.made('/keys', { name: 'Trackers' })
      for (const latitude of [91, 92])
        await suite.submit(key, { deviceId: 'faulty', latitude, longitude: 1 })
      const page = await suite.signedIn('/rejections', { timezoneId: 'Europe/Vienna' })
      const counts = page.getByRole('region', { name: 'How many' })
      const faulty = counts.getByRole('listitem').filter({ hasText: 'faulty' })
      expect(await faulty.locator('.number').textContent()).toBe('2')
      await faulty.getByRole('button').click()
      expect(new URL(page.url()).searchParams.get('deviceId')).toBe('faulty')
      await counts.getByText('2 rejected reports.').waitFor()
      const row = page.getByRole('table').getByRole('row').filter({ hasText: 'faulty' })
      await row.getByText('Latitude must be').waitFor()
      await row.getByText('Correct it in the settings of the device').waitFor()
      expect(await row.getByRole('cell').nth(2).textContent()).toBe('2')
      await row.getByRole('link', { name: 'faulty' }).waitFor()
      await row.getByRole('link', { name: 'Trackers' }).waitFor()
      await fillMoment(page, 'From', '2026-01-31', '12:30')
      expect(new URL(page.url()).searchParams.get('from')).toBe('2026-01-31T11:30:00.000Z')
      await page.getByRole('row').filter({ hasText: 'faulty' }).first().waitFor()
      await fillMoment(page, 'To', '2026-01-31', '12:31')
      await page.getByText('No rejections match these filters').waitFor()
      await suite.submit(key, { deviceId: 'faulty', latitude: 93, longitude: 1 })
      await page.getByRole('button', { name: 'Show all' }).click()
      await counts.getByText('By reason').waitFor()
      expect(new URL(page.url()).search).toBe('')
    })
  })

  describe('a paged list', () => {
    /** More entries than one page of the list holds. */
    async function audit(): Promise<Page> {
      await hay()
      const page = await suite.signedIn('/audit')
      await rows(page).first().waitFor()
      return page
    }

    const rows = (page: Page) => page.getByRole('table', { name: 'Audit' }).locator('tbody tr')
    const more = (page: Page) => page.getByRole('button', { name: 'Show more' })
    const nextPage = (url: URL) =>
      url.pathname === '/api/v1/audit' && url.searchParams.has('cursor')

    async function showMore(page: Page): Promise<void> {
      await more(page).click()
      await eventually(async () => (await rows(page).count()) > 100)
    }

    test('Back finds the rows that were shown, where they were', async () => {
      const page = await audit()
      await showMore(page)
      await page.evaluate(`document.getElementById('content').scrollTop = 3000`)
      await page.getByRole('link', { name: 'Keys', exact: true }).click()
      await page.getByRole('heading', { name: 'Keys' }).waitFor()
      await page.goBack()
      const top = () => page.evaluate<number>(`document.getElementById('content').scrollTop`)
      await eventually(async () => (await top()) === 3000)
      expect(await rows(page).count()).toBeGreaterThan(100)
      await page.getByRole('link', { name: 'Operators', exact: true }).click()
      await page.getByRole('heading', { name: 'Operators' }).waitFor()
      expect(await top()).toBe(0)
    })

    test('the next page of a list does not appear in another list', async () => {
      const page = await audit()
      let held: Route | undefined
      await page.route(nextPage, (route) => void (held = route))
      await more(page).click()
      await eventually(() => held !== undefined)
      const predicate = (request: { url(): string }) => nextPage(new URL(request.url()))
      const ended = Promise.race([
        page.waitForEvent('requestfinished', { predicate }),
        page.waitForEvent('requestfailed', { predicate }),
      ])
      await page.getByRole('combobox', { name: 'Action', exact: true }).selectOption('Signed in')
      await eventually(async () => (await rows(page).count()) < 10)
      // The page may have cancelled its request.
      await held?.continue().catch(() => undefined)
      await ended
      await page.evaluate(
        'new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))',
      )
      expect(await rows(page).filter({ hasText: 'key.created' }).count()).toBe(0)
    })

    test('a next page that failed can be retried, and the error disappears', async () => {
      const page = await audit()
      await page.route(nextPage, (route) => route.fulfill({ status: 503 }))
      await more(page).click()
      await page.getByRole('alert').getByText('503').waitFor()
      await page.unroute(nextPage)
      await page.getByRole('button', { name: 'Retry' }).click()
      await eventually(async () => (await rows(page).count()) > 100)
      expect(await page.getByRole('alert').count()).toBe(0)
    })

    test('the header of a table does not cover the target of Shift+Tab', async () => {
      await audit()
      const page = await suite.signedIn('/keys')
      const actions = page.getByRole('button', { name: /^Actions Hay / })
      await actions.nth(40).press('Shift+Tab')
      for (let times = 0; times < 40; times += 1) {
        const covered = await page.evaluate<string | null>(`(() => {
        const one = document.activeElement
        const { left, top, width, height } = one.getBoundingClientRect()
        const seen = document.elementFromPoint(left + width / 2, top + height / 4)
        return one.contains(seen) ? null : one.textContent
      })()`)
        expect(covered).toBe(null)
        await page.keyboard.press('Shift+Tab')
      }
    })

    test('a response that takes longer than the refresh interval is shown', async () => {
      const page = await suite.signedIn('/audit')
      await page.clock.install()
      const held: Route[] = []
      await page.route(
        (url) => url.pathname === '/api/v1/system',
        (route) => void held.push(route),
      )
      await page.getByRole('link', { name: 'System' }).click()
      await eventually(() => held.length === 1)
      await page.clock.runFor(25_000)
      expect(held).toHaveLength(1)
      await held[0]?.continue()
      await page.clock.resume()
      await page.getByText('Dead letters').first().waitFor()
    })

    test('a fault of the console is reported as one', async () => {
      const page = await suite.signedIn('/keys')
      const json = { status: 200, data: { items: [null], nextCursor: null } }
      await page.route('**/api/v1/audit', (route) => route.fulfill({ json }))
      await page.getByRole('link', { name: 'Audit' }).click()
      await page.getByRole('heading', { name: 'The console has failed' }).waitFor()
    })
  })
})
