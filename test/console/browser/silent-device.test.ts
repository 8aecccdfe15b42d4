import { describe, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { faultsInLooks } from './access-faults.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite, deviceRow } from './console-harness.ts'
import { countClicks } from './count-clicks.ts'

const MINUTE = 60_000

describeConsole('a device that needs attention', () => {
  const suite = consoleSuite()

  describe('the page of a silent device', () => {
    async function send(path: string, key: string, body: unknown): Promise<number> {
      const { status } = await fetch(`${suite.ingestUrl}/api/v1/gps/${path}`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      })
      return status
    }

    /** A device with imported history that last reported some minutes ago, and its key. */
    async function silent(
      deviceId: string,
      { minutesAgo = [120], ...more }: { minutesAgo?: readonly number[]; battery?: number } = {},
    ) {
      const name = `Key of ${deviceId}`
      const scopes = ['positions:write', 'positions:import']
      const { id, key } = await suite.made('/keys', { name, scopes })
      const reports = minutesAgo.map((minutes) => ({
        deviceId,
        latitude: 48.2,
        longitude: 16.4,
        ...more,
        timestamp: new Date(Date.now() - minutes * MINUTE).toISOString(),
      }))
      expect(await send('import', key, { reports })).toBe(200)
      await eventually(async () => {
        const { body } = await suite.call('GET', `/devices/${deviceId}`)
        const { data } = body as { data?: { reportCount: number } }
        return data?.reportCount === reports.length
      })
      return { id, key, path: `/devices/${deviceId}` }
    }

    /** A device that has just reported with its own key, then was rejected; now the key is revoked and it is disabled. */
    async function ended(deviceId: string, more: { battery?: number } = {}) {
      const { id, key } = await suite.made('/keys', { name: `Key of ${deviceId}` })
      const path = `/devices/${deviceId}`
      const report = { deviceId, latitude: 48.2, longitude: 16.4 }
      expect(await send('submit', key, { ...report, ...more })).toBe(200)
      await eventually(async () => (await suite.call('GET', path)).status === 200)
      expect(await send('submit', key, { ...report, latitude: 91 })).toBe(400)
      expect((await suite.call('POST', `/keys/${id}/revoke`)).status).toBe(200)
      expect((await suite.call('PATCH', path, { disabled: true })).status).toBe(200)
      return { path }
    }

    /** Shows a device as if it last reported two hours ago, and the service had run since. */
    async function age(page: Page, deviceId: string): Promise<void> {
      await page.route(/\/api\/v1\/system\/history/, async (route) => {
        const answer = await route.fetch()
        await route.fulfill({ response: answer, json: { data: { items: [] } } })
      })
      // The stream would send the true status.
      await page.route(/\/api\/v1\/stream/, (route) => route.abort())
      await page.route(/\/api\/v1\/devices(\?|\/[^/]*$)/, async (route) => {
        const answer = await route.fetch()
        const body = (await answer.json()) as { data: AgedDevice & { items?: AgedDevice[] } }
        const lastSeenAt = new Date(Date.now() - 120 * MINUTE).toISOString()
        for (const device of body.data.items ?? [body.data]) {
          if (device.deviceId !== deviceId) continue
          Object.assign(device, { lastSeenAt, status: 'offline' })
          Object.assign(device.lastPosition, { receivedAt: lastSeenAt, timestamp: lastSeenAt })
        }
        await route.fulfill({ response: answer, json: body })
      })
    }

    const why = (page: Page) => page.getByRole('region', { name: 'Why is it silent?' })

    test('says that its key was revoked, and leads to the key and to a new one', async () => {
      const { path } = await ended('silent-1')
      const page = await suite.signedIn(path)
      await why(page).getByText('Its key Key of silent-1 was revoked').waitFor()
      await why(page).getByRole('link', { name: 'Create a key' }).waitFor()
      await why(page).getByRole('link', { name: 'Key of silent-1' }).click()
      await page.getByRole('heading', { name: 'Key of silent-1' }).waitFor()
    })

    test('says why its reports are rejected, and leads to its rejections', async () => {
      const { key, path } = await silent('silent-2')
      const report = { deviceId: 'silent-2', latitude: 91, longitude: 16.4 }
      expect(await send('submit', key, report)).toBe(400)
      const page = await suite.signedIn(path)
      await why(page).getByText('Its reports are rejected').waitFor()
      await why(page).getByText('Latitude must be').waitFor()
      await why(page).getByRole('link', { name: 'Its rejections' }).click()
      await page.getByRole('heading', { name: 'Rejections' }).waitFor()
      expect(new URL(page.url()).searchParams.get('deviceId')).toBe('silent-2')
    })

    test('says that it is disabled, and offers to enable it', async () => {
      const { path } = await silent('silent-3', { battery: 0.04 })
      expect((await suite.call('PATCH', path, { disabled: true })).status).toBe(200)
      const page = await suite.signedIn(path)
      await why(page).getByText('It is disabled').waitFor()
      await why(page).getByRole('button', { name: 'Enable it' }).click()
      await why(page).getByText('It is disabled').waitFor({ state: 'hidden' })
      await why(page).getByText('Its battery was at 4 %').waitFor()
    })

    test('says what to check if no device has the id', async () => {
      const page = await suite.signedIn('/devices/never-heard-of')
      await page.getByText('There is no such device').waitFor()
      await why(page).getByText('The account has no device with this id').waitFor()
      await why(page).getByRole('link', { name: 'Connect a device' }).click()
      await page.getByRole('heading', { name: 'Connect a device' }).waitFor()
    })

    test('says how often it reports, if its next report is not due yet', async () => {
      const { path } = await silent('silent-5', { minutesAgo: [10, 40, 70, 100, 130] })
      const page = await suite.signedIn(path)
      await why(page)
        .getByText(/It reports about every 30 min; the next report is due/)
        .waitFor()
    })

    test('says what to check first if nothing explains it, and leaves once the device reports', async () => {
      const { key } = await suite.made('/keys', { name: 'Key of silent-6' })
      const [path, report] = [
        '/devices/silent-6',
        { deviceId: 'silent-6', latitude: 48.2, longitude: 16.4 },
      ]
      expect(await send('submit', key, report)).toBe(200)
      await eventually(async () => (await suite.call('GET', path)).status === 200)
      const page = await suite.signedIn('/system')
      await age(page, 'silent-6')
      await page.goto(suite.url + path)
      await why(page).getByText('Check first that the phone is on').waitFor()
      await page.unrouteAll()
      expect(await send('submit', key, report)).toBe(200)
      await why(page).waitFor({ state: 'hidden' })
    })

    test('says that all its positions were imported, and leaves once the device reports itself', async () => {
      const { key, path } = await silent('silent-7', { minutesAgo: [5 * 365 * 24 * 60] })
      const page = await suite.signedIn(path)
      await page.getByText('Offline, 4 years ago').waitFor()
      await why(page).getByText('All its positions were imported').waitFor()
      await page.getByText('Unknown until it reports again').waitFor()
      await why(page).getByRole('link', { name: 'Connect a device' }).waitFor()
      expect(await why(page).getByText('No reason found').count()).toBe(0)
      expect(
        await send('submit', key, { deviceId: 'silent-7', latitude: 48.2, longitude: 16.4 }),
      ).toBe(200)
      await why(page).waitFor({ state: 'hidden' })
    })

    test.each(['online', 'disabled'])(
      'says what to do about a clock that is years behind: %s',
      async (status) => {
        const { key } = await suite.made('/keys', { name: 'Tracker' })
        const [deviceId, path] = [`rollover-${status}`, `/devices/rollover-${status}`]
        const report = { deviceId, latitude: 48.2, longitude: 16.4 }
        expect(await send('submit', key, report)).toBe(200)
        await eventually(async () => (await suite.call('GET', path)).status === 200)
        const timestamp = new Date(Date.now() - 7_168 * 24 * 60 * MINUTE).toISOString()
        expect(await send('submit', key, { ...report, longitude: 16.5, timestamp })).toBe(200)
        await eventually(async () => {
          const { body } = await suite.call('GET', path)
          return (body.data as { reportCount: number }).reportCount === 2
        })
        if (status === 'disabled') await suite.call('PATCH', path, { disabled: true })
        const page = await suite.signedIn(path)
        const name = status === 'online' ? 'Its clock is wrong' : 'Why is it silent?'
        const card = page.getByRole('region', { name })
        await card.getByText('Its clock is 19 years behind').waitFor()
        await card.getByText('Exactly 1024 weeks').waitFor()
        // The device sends the right date again.
        if (status === 'disabled') return
        expect(await send('submit', key, report)).toBe(200)
        await card.waitFor({ state: 'hidden' })
      },
    )

    test('says by how much a clock is ahead, in header, list and card', async () => {
      const { key } = await suite.made('/keys', { name: 'Clock' })
      const timestamp = new Date(Date.now() + 180 * MINUTE + 30_000).toISOString()
      const report = { deviceId: 'ahead-1', latitude: 48.2, longitude: 16.4, timestamp }
      expect(await send('submit', key, report)).toBe(200)
      await eventually(async () => (await suite.call('GET', '/devices/ahead-1')).status === 200)
      const page = await suite.signedIn('/devices/ahead-1')
      await page.locator('.device-title').getByText('clock 3 h ahead').waitFor()
      const card = page.getByRole('region', { name: 'Its clock is wrong' })
      await card.getByText('Its clock is 3 h ahead').waitFor()
      await page.goto(`${suite.url}/?device=ahead-1`)
      await eventually(async () => (await page.getByText('clock 3 h ahead').count()) >= 2)
    })

    test('is accessible and fits a phone, light and dark', async () => {
      const { path } = await ended('silent-look', { battery: 0.04 })
      const page = await suite.signedIn(path, { viewport: { width: 360, height: 700 } })
      for (const text of ['Its reports are rejected, last', 'was revoked', 'Its battery was']) {
        await why(page).getByText(text).waitFor()
      }
      const looks = [
        ['light', 360],
        ['dark', 360],
      ] as const
      expect(await faultsInLooks(page, looks)).toEqual([])
    })
  })

  describe('a lost device', () => {
    const at = (deviceId: string) => ({ deviceId, latitude: 48.2, longitude: 16.4 })
    const keyCard = (page: Page) => page.getByRole('region', { name: 'Key', exact: true })
    const dialog = (page: Page) => page.getByRole('dialog', { name: 'I lost this device' })

    test('revoking its key takes at most four clicks from the map, if no other device uses it', async () => {
      const { key } = await suite.made('/keys', { name: 'Phone of Ana' })
      expect(await suite.submit(key, at('lost-1'))).toBe(200)
      const page = await suite.signedIn()
      const clicks = await countClicks(page)
      await deviceRow(page, 'lost-1').click()
      await page.getByRole('link', { name: 'History and settings' }).click()
      await page.getByRole('button', { name: 'I lost this device' }).click()
      await dialog(page).getByText('No other device reports with its key').waitFor()
      await dialog(page).getByRole('button', { name: 'Revoke its key' }).click()
      await keyCard(page).getByText('Revoked').waitFor()
      expect(await clicks()).toBeLessThanOrEqual(4)
      await eventually(async () => (await suite.submit(key, at('lost-1'))) === 401)
    })

    test('it is disabled, with the reason, if other devices report with its key', async () => {
      const { key } = await suite.made('/keys', { name: 'Vans' })
      for (const deviceId of ['lost-2', 'other-van'])
        expect(await suite.submit(key, at(deviceId))).toBe(200)
      await eventually(async () => {
        const { status } = await suite.call('GET', '/devices/other-van')
        return status === 200
      })
      const page = await suite.signedIn('/devices/lost-2')
      await page.getByRole('button', { name: 'I lost this device' }).click()
      await dialog(page).getByText('revoking the key would silence them').waitFor()
      await dialog(page).getByRole('link', { name: 'other-van' }).waitFor()
      await dialog(page).getByRole('button', { name: 'Disable device' }).click()
      await eventually(async () => (await suite.submit(key, at('lost-2'))) === 403)
      expect(await suite.submit(key, at('other-van'))).toBe(200)
    })

    test('the device shows its key, and links to that key, which lists its devices', async () => {
      const { key } = await suite.made('/keys', { name: 'Bicycle' })
      expect(await suite.submit(key, at('bike'))).toBe(200)
      await eventually(async () => (await suite.call('GET', '/devices/bike')).status === 200)
      const page = await suite.signedIn('/devices/bike')
      await keyCard(page).getByText('Reports with key Bicycle').waitFor()
      await keyCard(page).getByRole('link', { name: 'Bicycle' }).click()
      await page.getByRole('heading', { name: /^Key .*Bicycle/ }).waitFor()
      const devices = page.getByRole('list', { name: 'Devices of the key' })
      await devices.getByRole('link', { name: 'bike' }).click()
      await page.getByRole('heading', { name: 'bike' }).waitFor()
      await page.getByRole('link', { name: 'Keys', exact: true }).click()
      await page.getByRole('link', { name: 'Bicycle' }).click()
      await page.getByRole('heading', { name: /^Key .*Bicycle/ }).waitFor()
    })
  })

  describe('a phone at rest that sends pings', () => {
    /** A message of OwnTracks dated some seconds ago. */
    async function ping(key: string, tst: number, message: object): Promise<void> {
      const { status } = await fetch(`${suite.ingestUrl}/pub`, {
        method: 'POST',
        headers: {
          Authorization: `Basic ${Buffer.from(`ana:${key}`).toString('base64')}`,
          'Content-Type': 'application/json',
        },
        body: JSON.stringify({ ...PING, tst, ...message }),
      })
      expect(status).toBe(200)
    }

    test('shows the battery of its newest ping on its page, in the list and on its card, live and after a reload', async () => {
      const { key } = await suite.made('/keys', { name: 'Phone' })
      const tst = Math.floor(Date.now() / 1_000) - 120
      await ping(key, tst, { batt: 80, bs: 1 })
      const path = `/devices/${encodeURIComponent('joe/ping')}`
      await eventually(async () => (await suite.call('GET', path)).status === 200)
      const page = await suite.signedIn(path)
      const card = page.getByRole('region', { name: 'Now' })
      await card.getByText('80 %').waitFor()
      await ping(key, tst, { batt: 42, bs: 2, t: 'p' })
      for (const restarts of [false, true]) {
        if (restarts) await page.reload()
        await card.getByRole('heading', { name: 'Newer data' }).waitFor()
        await card.getByText('42 %').waitFor()
        await card.getByText('Charging').waitFor()
        expect(await card.getByText('80 %').count()).toBe(0)
      }
      const { body } = await suite.call('GET', path)
      expect(body.data).toMatchObject({ reportCount: 1, telemetry: { battery: 0.42 } })
      await page.goto(`${suite.url}/?columns=motion,battery`)
      await deviceRow(page, 'joe/ping').getByText('42 %').waitFor()
      await deviceRow(page, 'joe/ping').click()
      await page.getByRole('region', { name: 'Selected device' }).getByText('42 %').waitFor()
    })
  })
})

type AgedDevice = { readonly deviceId: string; readonly lastPosition: object }

const PING = {
  _type: 'location',
  acc: 14,
  conn: 'w',
  lat: 52.1,
  lon: 13.1,
  m: 1,
  tid: 'p1',
  topic: 'owntracks/joe/ping',
  vel: 0,
}
