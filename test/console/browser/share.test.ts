import { describe, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { accessFaults, faultsInLooks } from './access-faults.ts'
import { describeConsole } from './chromium.ts'
import { chooseAction, consoleSuite, deviceRow, PASSWORD } from './console-harness.ts'
import { countClicks } from './count-clicks.ts'
import { fillMoment } from './fill-moment.ts'

const DISPATCHER = 'dora@example.org'
/** Tomorrow, late in the day. */
const IN_TWO_HOURS = /(today|tomorrow) \d\d:\d\d/

describeConsole('sharing', () => {
  const suite = consoleSuite()

  describe('sharing', () => {
    test('a link shows devices live to people without an account, until it is revoked', async () => {
      await suite.report(
        { deviceId: 'secret-id', latitude: 48.2, longitude: 16.4 },
        { deviceId: 'soon-gone', latitude: 48.2, longitude: 16.4 },
      )
      await stored('secret-id')
      await stored('soon-gone')
      const page = await suite.signedIn('/shares')
      await page.getByRole('button', { name: 'New link' }).click()
      const name = 'Delivery <img src=x onerror=alert(1)>'
      await page.getByRole('textbox', { name: 'Name' }).fill(name)
      const search = page.getByRole('searchbox', { name: 'Devices' })
      await search.fill('no such device')
      await page.getByText('No other device matches').waitFor()
      await search.fill('SOON')
      await page.getByRole('button', { name: 'Add soon-gone' }).click()
      await page.getByRole('button', { name: 'Add secret-id' }).waitFor()
      await search.fill('cret')
      await page.getByRole('button', { name: 'Add soon-gone' }).waitFor({ state: 'hidden' })
      await search.press('Enter')
      await page.getByRole('button', { name: 'Remove secret-id' }).waitFor()
      expect((await suite.call('DELETE', '/devices/soon-gone')).status).toBe(202)
      await page.getByRole('button', { name: 'Create link' }).click()
      await page.getByRole('dialog').getByRole('alert').waitFor()
      await page.getByRole('button', { name: 'Remove soon-gone' }).click()
      await page.getByRole('button', { name: 'Create link' }).click()
      const made = page.getByRole('dialog', { name: 'Link created' })
      await made.waitFor()
      for (let times = 0; times < 5; times += 1) await page.keyboard.press('Escape')
      const link = await made.getByRole('textbox', { name: 'Link' }).inputValue()
      await made.getByRole('button', { name: 'I’ve saved it' }).click()
      await made.waitFor({ state: 'hidden' })
      await suite.report({ deviceId: 'secret-id', latitude: 48.2, longitude: 16.4 })

      const guest = await (await suite.open({ viewport: { width: 360, height: 740 } })).newPage()
      await guest.goto(link)
      await guest.getByRole('heading', { name }).waitFor()
      const device = guest.getByRole('list', { name: 'Devices' }).getByText('Device 1')
      await device.waitFor()
      await guest.getByRole('status', { name: 'Connection' }).getByText('live').waitFor()
      expect(await guest.content()).not.toContain('secret-id')
      const time = device.locator('..').getByRole('time')
      const shown = await time.getAttribute('datetime')
      await suite.report({ deviceId: 'secret-id', latitude: 48.3, longitude: 16.4 })
      await eventually(async () => (await time.getAttribute('datetime')) !== shown)

      await chooseAction(page, 'Revoke', name)
      await page.getByRole('button', { name: 'Revoke link' }).click()
      await guest.getByRole('heading', { name: 'This link shows nothing' }).waitFor()
    })

    test('the card of a device creates a link to it, and the link ends while a viewer has it open', async () => {
      await suite.report({ deviceId: 'van', latitude: 48.2, longitude: 16.4 })
      await stored('van')
      const page = await suite.signedIn('/?device=van')
      const card = page.getByRole('region', { name: 'Selected device' })
      await card.getByRole('link', { name: 'Share' }).click()
      await page.getByRole('button', { name: 'Remove van' }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
      expect(page.url()).toBe(`${suite.url}/shares`)

      const { token } = await suite.made('/shares', {
        name: 'For a moment',
        deviceIds: ['van'],
        expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
        trailMinutes: 0,
      })
      const guest = await (await suite.open()).newPage()
      await guest.goto(`${suite.url}/share#${token}`)
      await guest.getByRole('heading', { name: 'For a moment' }).waitFor()
      await guest.getByRole('button', { name: 'Zoom in' }).click()
      await passTime(guest, 3_600_000)
      await guest.getByRole('heading', { name: 'This link shows nothing' }).waitFor()
      expect(await guest.getByText('Device 1').count()).toBe(0)
    })

    /** A device can be shared once its report is stored, which is after its 200. */
    async function stored(deviceId: string): Promise<void> {
      await eventually(async () => (await suite.call('GET', `/devices/${deviceId}`)).status === 200)
    }

    /** The clocks of service and page advance alike, unless the page's is wrong. */
    async function passTime(page: Page, ms: number, pageMs = ms): Promise<void> {
      await page.route('**/api/v1/shared', async (route) => {
        const response = await route.fetch()
        const { data, ...body } = (await response.json()) as { data: { asOf: string } }
        const asOf = new Date(Date.parse(data.asOf) + ms).toISOString()
        await route.fulfill({ response, json: { ...body, data: { ...data, asOf } } })
      })
      await page.clock.setSystemTime(Date.now() + pageMs)
    }

    async function sharedPage(
      deviceId: string,
      name = 'Delivery',
    ): Promise<{ page: Page; link: string }> {
      await suite.report({ deviceId, latitude: 48.2, longitude: 16.4 })
      await stored(deviceId)
      const { token } = await suite.made('/shares', {
        deviceIds: [deviceId],
        name,
        expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
        trailMinutes: 0,
      })
      // Nothing from before the share's creation is shown.
      await suite.report({ deviceId, latitude: 48.2, longitude: 16.4 })
      const page = await (await suite.open()).newPage()
      return { page, link: `${suite.url}/share#${token}` }
    }

    /** An open stream of the share; `told` resolves once it has sent a text. */
    async function openShared(token: string) {
      const { body } = await fetch(`${suite.url}/api/v1/shared/stream`, {
        headers: { Authorization: `Bearer ${token}` },
      })
      return {
        async told(text: string): Promise<void> {
          let all = ''
          for await (const piece of body ?? []) {
            all += Buffer.from(piece as Uint8Array).toString()
            // Leaving the loop closes the stream.
            if (all.includes(text)) return
          }
        },
      }
    }

    const firstDevice = (page: Page) =>
      page.getByRole('list', { name: 'Devices' }).getByText('Device 1')

    test('a link shows its devices even if the service was busy when it was opened', async () => {
      const { page, link } = await sharedPage('busy')
      const busy = { status: 503, headers: { 'Retry-After': '1' }, body: '' }
      await page.route('**/api/v1/shared', (route) => route.fulfill(busy), { times: 1 })
      await page.goto(link)
      await page.getByRole('alert').waitFor()
      await firstDevice(page).waitFor()
      expect(await page.getByRole('alert').count()).toBe(0)
    })

    test('a link shows its devices even if its stream is rejected, and says that it is not live', async () => {
      const { page, link } = await sharedPage('refused')
      const busy = { status: 503, headers: { 'Retry-After': '60' }, body: '' }
      await page.route('**/api/v1/shared/stream', (route) => route.fulfill(busy))
      await page.goto(link)
      await firstDevice(page).waitFor()
      const connection = page.getByRole('status', { name: 'Connection' })
      expect(await connection.textContent()).toBe('disconnected, reconnecting')
    })

    test('a report that arrives while a link loads is shown', async () => {
      const { page, link } = await sharedPage('early')
      const timestamp = new Date(Date.now() + 1_000).toISOString()
      await page.route(
        '**/api/v1/shared',
        async (route) => {
          const response = await route.fetch()
          const stream = await openShared(link.split('#')[1] ?? '')
          await suite.report({ deviceId: 'early', latitude: 49, longitude: 16.4, timestamp })
          await stream.told(timestamp)
          await route.fulfill({ response })
        },
        { times: 1 },
      )
      await page.goto(link)
      const time = firstDevice(page).locator('..').getByRole('time')
      await time.waitFor()
      expect(await time.getAttribute('datetime')).toBe(timestamp)
    })

    test('a report that is stored only after a link has loaded is shown soon', async () => {
      const { page, link } = await sharedPage('stored-late')
      await page.route(
        '**/api/v1/shared',
        async (route) => {
          const response = await route.fetch()
          const body = (await response.json()) as { data: object }
          await route.fulfill({ response, json: { ...body, data: { ...body.data, items: [] } } })
        },
        { times: 1 },
      )
      await page.goto(link)
      await page.getByText('No position yet').waitFor()
      await firstDevice(page).waitFor({ timeout: 40_000 })
    })

    test('a device that stops reporting does not stay online on the map of a link', async () => {
      const { page, link } = await sharedPage('silent')
      const painted = (colour: readonly number[]) =>
        page.evaluate<boolean>(`(() => {
        const canvas = document.querySelector('.fleet-canvas')
        if (canvas === null || canvas.width === 0) return false
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
        for (let at = 0; at < data.length; at += 4) {
          if (${JSON.stringify(colour)}.every((part, index) => data[at + index] === part)) return true
        }
        return false
      })()`)
      const [online, idle] = [
        [0x17, 0x80, 0x3f],
        [0xa8, 0x6a, 0x00],
      ] as const
      await page.goto(link)
      await eventually(() => painted(online))
      // Its stream stays open, so only the time changes.
      await passTime(page, 6 * 60_000)
      await eventually(() => painted(idle))
      expect(await painted(online)).toBe(false)
      const silence = page.getByText(
        /It may have no network. Its last known position is from .*\d\d:\d\d/,
      )
      await silence.waitFor()
      expect(await accessFaults(page)).toEqual([])
    })

    test.each([-1, 1])(
      'a phone whose clock is wrong by %i hour shows when a device last reported',
      async (hours) => {
        const { page, link } = await sharedPage(`clock${hours}`)
        await passTime(page, 6 * 60_000, hours * 3_600_000)
        await page.goto(link)
        const time = firstDevice(page).locator('..').getByRole('time')
        const at = new Date((await time.getAttribute('datetime')) ?? '')
        expect(await time.textContent()).toBe(at.toTimeString().slice(0, 5))
        await page.getByText('It may have no network').waitFor()
      },
    )

    test.each([
      ['at the lower edge of a phone', { width: 390, height: 844 }],
      ['at the left of a desktop', { width: 1400, height: 900 }],
    ])('a link is a map over the whole page with a card %s', async (_, viewport) => {
      const { link } = await sharedPage(`card ${viewport.width}`)
      const page = await (await suite.open({ viewport })).newPage()
      await page.goto(link)
      const card = page.getByRole('region', { name: 'Shared positions' })
      await card.getByText(/near \S/).waitFor()
      const map = await page.locator('.map').boundingBox()
      expect(map).toEqual({ x: 0, y: 0, ...viewport })
      const box = await card.boundingBox()
      const isPhone = viewport.width < 720
      expect(box).toMatchObject(isPhone ? { x: 0, width: 390 } : { x: 12, y: 12, width: 360 })
      if (isPhone) expect((box?.y ?? 0) + (box?.height ?? 0)).toBe(viewport.height)
      const [size, line] = await card.getByRole('heading').evaluate((heading: never) => {
        const { getComputedStyle } = globalThis as never as {
          getComputedStyle: (of: unknown) => { fontSize: string; lineHeight: string }
        }
        const { fontSize, lineHeight } = getComputedStyle(heading)
        return [fontSize, lineHeight]
      })
      expect([size, line]).toEqual(['20px', '28px'])
      const button = card.getByRole('link', { name: 'Open in Google Maps' })
      expect((await button.boundingBox())?.height).toBe(44)
      // The credits of the map are not under the card.
      const credits = await page.locator('.map-credits').boundingBox()
      if (isPhone)
        expect((credits?.y ?? 0) + (credits?.height ?? 0)).toBeLessThanOrEqual(box?.y ?? 0)
    })

    test('a page of a link fits a phone with a long name, in the dark', async () => {
      const name = 'Wwwwww'.repeat(15)
      const { link } = await sharedPage('long', name)
      const context = await suite.open({
        viewport: { width: 360, height: 740 },
        colorScheme: 'dark',
      })
      const page = await context.newPage()
      await page.goto(link)
      await page.getByRole('heading', { name }).waitFor()
      await page.getByText(/Updated \d\d:\d\d/).waitFor()
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
      expect(await accessFaults(page)).toEqual([])
    })

    test('an address without a valid link says that it has nothing to show', async () => {
      const page = await (await suite.open()).newPage()
      for (const path of ['/share', '/share#nonsense', '/share#%']) {
        await page.goto('about:blank')
        await page.goto(suite.url + path)
        await page.getByRole('heading', { name: 'This link shows nothing' }).waitFor()
      }
    })
  })

  describe('the dialog that shares devices', () => {
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
      const search = dialog(page).getByRole('searchbox', { name: 'Devices' })
      await search.fill('pick')
      await dialog(page).getByRole('button', { name: 'Add pick-1' }).waitFor()
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
      const page = await suite.signedIn(`/shares?device=${id}`, {
        viewport: { width: 360, height: 740 },
      })
      await preview(page).waitFor()
      const looks = [
        ['light', 360],
        ['dark', 360],
      ] as const
      expect(await faultsInLooks(page, looks)).toEqual([])
      const wide = `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('dialog'))`
      expect(await page.evaluate(wide)).toBe(0)
    })
  })
})
