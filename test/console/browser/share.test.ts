import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { accessFaults } from './access-faults.ts'
import { describeConsole } from './chromium.ts'
import { chooseAction, consoleSuite } from './console-harness.ts'

describeConsole('sharing', () => {
  const suite = consoleSuite()

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
    if (isPhone) expect((credits?.y ?? 0) + (credits?.height ?? 0)).toBeLessThanOrEqual(box?.y ?? 0)
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

  test.each(['/share', '/share#nonsense', '/share#%'])(
    '%s says that it has nothing to show',
    async (path) => {
      const page = await (await suite.open()).newPage()
      await page.goto(suite.url + path)
      await page.getByRole('heading', { name: 'This link shows nothing' }).waitFor()
    },
  )
})
