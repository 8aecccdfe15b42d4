import { describe, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import type { Example, Guide } from '../../../console/guides/guide.ts'
import { GUIDES } from '../../../console/guides/guides.ts'
import { OWNTRACKS_ANDROID } from '../../../console/guides/owntracks.ts'
import { eventually } from '../../eventually.ts'
import { describeConsole } from './chromium.ts'
import { connecting, nameWithId, secretOf } from './connecting.ts'
import { consoleSuite, deviceRow, follow } from './console-harness.ts'
import { countClicks } from './count-clicks.ts'
import { quickest } from './quickest.ts'

/** The configuration in an `owntracks:` link. */
function configurationIn(link: string): { url: string } {
  const inline = decodeURIComponent(new URL(link).search.replace('?inline=', ''))
  return JSON.parse(Buffer.from(inline, 'base64').toString('utf8')) as { url: string }
}

async function guideNamed(name: string): Promise<Guide> {
  const entry = GUIDES.flatMap(({ guides }) => guides).find((one) => one.name === name)
  if (entry === undefined) throw new Error(`no guide ${name}`)
  return entry.load()
}

const MARKUP = '<img src=x onerror=alert(1)>'

describeConsole('connecting a device, and its key', () => {
  const suite = consoleSuite()

  describe('connecting a device', () => {
    const arrival = (page: Page) => page.getByRole('region', { name: 'Arrival' })

    test('leads from signing in to a tick, and from there to the device on the map', async () => {
      const page = await connecting(suite, 'first van')
      await page.getByRole('button', { name: 'Send a test report' }).click()
      await arrival(page).getByText('arrived').waitFor()
      await arrival(page).getByRole('link', { name: 'map' }).click()
      await deviceRow(page, 'first van').waitFor()
    })

    test('the copied text is what a device needs', async () => {
      const page = await connecting(suite, 'copied')
      const key = await secretOf(page)
      const command = await page.getByLabel('Command', { exact: true }).textContent()
      expect(command).toContain(`${suite.ingestUrl}/api/v1/gps/submit`)
      expect(command).toContain(`Bearer ${key}`)
      await page.getByText('can be reached only from the computer').waitFor()
      expect(await suite.submit(key, { deviceId: 'copied', latitude: 1, longitude: 2 })).toBe(200)
      await arrival(page).getByText('arrived').waitFor()
    })

    test('a command imports its history under the id that it reports with', async () => {
      const page = await connecting(suite, "jane's")
      await page.getByText('Bring a history').click()
      const command = await page.getByLabel('Import', { exact: true }).textContent()
      const { origin } = new URL(suite.ingestUrl)
      expect(command).toBe(`npm run import -- --url '${origin}' --device 'jane'\\''s' FILE`)
    })

    test('an app is set up by its link or by hand, and the page waits for it under its own id', async () => {
      const page = await connecting(suite, 'phone 1', 'OwnTracks (Android)')
      const key = await secretOf(page)
      await page.getByText('Reports as').getByText('owntracks/phone 1').waitFor()
      await page.getByRole('img', { name: 'QR code that sets up OwnTracks' }).waitFor()
      const href = await page.getByRole('link', { name: 'set up OwnTracks' }).getAttribute('href')
      const { url } = configurationIn(href ?? '')
      expect(url).toBe(`${suite.ingestUrl}/api/v1/senders/owntracks`)
      expect(await page.getByLabel('URL', { exact: true }).textContent()).toBe(url)
      expect(await page.getByLabel('Password', { exact: true }).textContent()).toBe(key)
      await arrival(page).getByText('first report of phone 1').waitFor()

      const setup = { address: suite.ingestUrl, key, deviceId: 'phone 1' }
      const place = { latitude: 95, longitude: 2, time: Math.floor(Date.now() / 1000) * 1000 }
      const send = ({ url, ...request }: Example) => fetch(url, request)
      expect((await send(OWNTRACKS_ANDROID.example(setup, place))).status).toBe(200)
      await arrival(page)
        .getByText(/^Rejected/)
        .first()
        .waitFor()
      await arrival(page).getByText('atitude').first().waitFor()
      await send(OWNTRACKS_ANDROID.example(setup, { ...place, latitude: 1 }))
      await arrival(page).getByText('phone 1 has arrived').waitFor()
      expect(await arrival(page).getByRole('button', { name: 'Yes' }).count()).toBe(0)
    })

    test('every guide shows the address and the key, and what to do when nothing arrives', async () => {
      const page = await connecting(suite, 'any')
      const key = await secretOf(page)
      for (const { name } of GUIDES.flatMap(({ guides }) => guides)) {
        await page.getByLabel(name, { exact: true }).check()
        await page
          .locator('.guide', { hasText: (await guideNamed(name)).about.slice(0, 20) })
          .waitFor()
        const shown = (await page.locator('.guide').textContent()) ?? ''
        expect([name, shown.includes(key), shown.includes(suite.ingestUrl)]).toEqual([
          name,
          true,
          true,
        ])
        await page.getByText('When nothing arrives').click()
        await page.getByText('/healthz').waitFor()
        const wide = await page.evaluate(`document.getElementById('content').scrollWidth`)
        expect([name, wide]).toEqual([
          name,
          await page.evaluate(`document.getElementById('content').clientWidth`),
        ])
      }
    })

    test('a rejected report says why within two seconds, and a good one after it arrives', async () => {
      const page = await connecting(suite, MARKUP)
      const key = await secretOf(page)
      await arrival(page).getByText('Waiting').waitFor()
      const faults = [{ heading: 361 }, { battery: 2 }, { latitude: 95 }]
      const shownAfterMs = async (attempt: number) => {
        const sentAt = performance.now()
        const place = { latitude: 1, longitude: 2, ...faults[attempt] }
        expect(await suite.submit(key, { deviceId: MARKUP, ...place })).toBe(400)
        const [field = ''] = Object.keys(faults[attempt] ?? {})
        await arrival(page)
          .getByText(new RegExp(`${field} must be`, 'i'))
          .waitFor()
        return performance.now() - sentAt
      }
      expect(await quickest(2_000, shownAfterMs)).toBeLessThanOrEqual(2_000)
      await arrival(page).getByText('What was sent').click()
      await arrival(page).getByText(MARKUP).waitFor()
      await suite.submit(key, { deviceId: 'another id', latitude: 1, longitude: 2 })
      await arrival(page).getByText('It calls itself another id').waitFor()
      await arrival(page).getByRole('button', { name: 'Yes' }).click()
      expect(await page.getByRole('textbox', { name: 'Device id' }).inputValue()).toBe('another id')
      await page.getByRole('button', { name: 'Use it for another id' }).click()
      await page.getByText('can send reports of another id only').waitFor()
      await eventually(async () => {
        return (
          (await suite.submit(key, { deviceId: 'another id', latitude: 1, longitude: 2 })) === 200
        )
      })
      await arrival(page).getByText(`${MARKUP} has arrived`).waitFor()
    })

    test('connecting a phone takes four clicks and scanning a code', async () => {
      const page = await suite.signedIn()
      const clicks = await countClicks(page)
      await follow(page, 'Connect a device')
      await page.getByLabel('OwnTracks (iOS)').click()
      await page.getByLabel('What is it called?').click()
      await page.keyboard.type("Anna's phone")
      await page.getByRole('button', { name: 'Create a key' }).click()
      await page.getByRole('img', { name: 'QR code that sets up OwnTracks' }).waitFor()
      await page.getByText('can send reports of owntracks/annas-phone only').waitFor()
      expect(await clicks()).toBeLessThanOrEqual(4)
    })

    test('a device gets its chosen name once it has arrived, as shown beside the QR code; a removed name stays removed', async () => {
      const page = await suite.signedIn('/connect')
      await page.getByLabel('OwnTracks (Android)').check()
      await page.getByLabel('What is it called?').fill('Anna’s phone')
      await page.getByText('Reports as owntracks/annas-phone').waitFor()
      expect(await arrival(page).count()).toBe(0)
      await page.getByRole('button', { name: 'Create a key' }).click()
      const key = await secretOf(page)
      await arrival(page).getByText('Waiting for the first report of Anna’s phone').waitFor()
      const code = page.getByRole('img', { name: 'QR code that sets up OwnTracks' })
      await code.scrollIntoViewIfNeeded()
      const place = { deviceId: 'owntracks/annas-phone', latitude: 48, longitude: 16 }
      expect(await suite.submit(key, place)).toBe(200)
      await arrival(page).getByText('Anna’s phone has arrived').waitFor()
      const [bar, qr] = [await arrival(page).boundingBox(), await code.boundingBox()]
      expect(bar?.height).toBe(56)
      expect((qr?.y ?? 0) + (qr?.height ?? 0)).toBeLessThanOrEqual(bar?.y ?? 0)
      const path = '/devices/owntracks%2Fannas-phone'
      const name = async () => {
        const { body } = await suite.call('GET', path)
        return (body.data as { name: string | null }).name
      }
      await eventually(async () => (await name()) === 'Anna’s phone')
      const { body } = await suite.call('GET', '/keys')
      expect(JSON.stringify(body)).toContain('"name":"Anna’s phone"')
      await arrival(page).getByRole('link', { name: 'Show on map' }).click()
      await deviceRow(page, 'Anna’s phone').waitFor()

      await suite.call('PATCH', path, { name: null })
      await follow(page, 'Connect a device')
      const asked = page.waitForResponse((answer) => answer.url().includes(path.slice(9)))
      await page.reload()
      await asked
      await arrival(page).getByText('has arrived').waitFor()
      expect(await name()).toBeNull()
    })

    test('a name whose id is taken shows a warning', async () => {
      const { key } = await suite.made('/keys', { name: 'History', scopes: ['positions:import'] })
      const answer = await fetch(`${suite.ingestUrl}/api/v1/gps/import`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({
          reports: [
            { deviceId: 'van-7', latitude: 1, longitude: 2, timestamp: '2026-01-31T12:00:00Z' },
          ],
        }),
      })
      expect(answer.status).toBe(200)
      const page = await suite.signedIn('/connect')
      await page.getByLabel('curl').check()
      await page.getByLabel('What is it called?').fill('Van 7')
      await page.getByText('A device reports with this id already').waitFor()
    })

    test('a test report says that it creates a device, which can be removed', async () => {
      const page = await connecting(suite, 'only tried')
      await page.getByText('It puts only tried on the map').waitFor()
      await page.getByRole('button', { name: 'Send a test report' }).click()
      await arrival(page).getByText('arrived').waitFor()
      await page.getByRole('button', { name: 'Remove the test report' }).click()
      await page.getByRole('status').getByText('Test report removed').waitFor()
      expect((await suite.call('GET', '/devices/only%20tried')).status).toBe(404)
    })

    test('a test report that is rejected says why', async () => {
      const page = await connecting(suite, 'refused')
      await page.getByRole('textbox', { name: 'Latitude' }).fill('north')
      await page.getByRole('button', { name: 'Send a test report' }).click()
      await arrival(page).getByText('Latitude must be').waitFor()
    })

    test('an arrived report stays on the page when the session is renewed, and few calls poll for it', async () => {
      const page = await suite.signedIn('/connect')
      await page.getByLabel('curl').check()
      await nameWithId(page, 'my-device')
      await page.getByRole('button', { name: 'Create a key' }).click()
      await arrival(page).getByText('my-device').waitFor()
      let calls = 0
      page.on('request', (request) => (calls += request.url().includes('/api/v1/') ? 1 : 0))
      await suite.report({ deviceId: 'my-device', latitude: 1, longitude: 2 })
      await arrival(page).getByText('has arrived').waitFor()
      await arrival(page)
        .getByText(/[4-9] s ago/)
        .waitFor()
      expect(calls).toBeLessThan(9)
      const other = await page.context().newPage()
      await other.goto(`${suite.url}/healthz`)
      const renewed = page.waitForResponse((answer) => answer.url().endsWith('/api/v1/session'))
      await other.evaluate(`new BroadcastChannel('gps-console-session /').postMessage('begun')`)
      await renewed
      await page.evaluate(
        'new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))',
      )
      await arrival(page).getByText('has arrived').waitFor({ timeout: 1_000 })
    })
  })

  describe('the key of a device being connected', () => {
    test('a key is created only once its guide says which id the device reports with', async () => {
      const page = await suite.signedIn()
      let letCome = () => {}
      const isHeld = new Promise<void>((resolve) => (letCome = resolve))
      await page.route('**/owntracks-*.js', async (route) => {
        await isHeld
        await route.continue()
      })
      await follow(page, 'Connect a device')
      await nameWithId(page, 'slow phone')
      const create = page.getByRole('button', { name: 'Create a key' })
      expect(await create.isDisabled()).toBe(true)
      letCome()
      await create.click()
      await page.getByText('can send reports of owntracks/slow phone only').waitFor()
    })

    test('renaming the device creates no second key', async () => {
      const page = await connecting(suite, 'one name')
      const key = await secretOf(page)
      await page.getByRole('textbox', { name: 'Device id' }).fill('other name')
      expect(await page.getByRole('button', { name: 'Create a key' }).count()).toBe(0)
      await page.getByRole('button', { name: 'Use it for other name' }).click()
      await page.getByText('can send reports of other name only').waitFor()
      expect(await secretOf(page)).toBe(key)
      await page.getByRole('button', { name: 'Connect another' }).click()
      expect(await page.getByLabel('What is it called?').inputValue()).toBe('')
      await page.getByRole('button', { name: 'Create a key' }).click()
      await page.getByRole('alert').getByText('Name the device first').waitFor()
    })

    test('a returning user finds everything but the secret, and continues after pasting it', async () => {
      const page = await connecting(suite, 'left alone', 'Python')
      const key = await secretOf(page)
      await follow(page, 'Keys')
      await page.getByRole('heading', { name: 'Keys' }).waitFor()
      await follow(page, 'Connect a device')
      await page.getByText('its secret was shown only once').waitFor()
      expect(await page.getByRole('textbox', { name: 'Device id' }).inputValue()).toBe('left alone')
      expect(await page.getByLabel('Python', { exact: true }).isChecked()).toBe(true)
      expect(await page.content()).not.toContain(key)
      const kept = await page.evaluate('JSON.stringify([localStorage, sessionStorage, location])')
      expect(kept).not.toContain(key)

      await page.getByText('Use an existing key').click()
      await page.getByLabel('Secret', { exact: true }).fill('gps_wrong')
      await page.getByRole('button', { name: 'Use it' }).click()
      await page.getByRole('alert').waitFor()
      await page.getByLabel('Secret', { exact: true }).fill(key)
      await page.getByRole('button', { name: 'Use it' }).click()
      expect(await secretOf(page)).toBe(key)
    })

    test('an address with a key in its fragment continues with it, and drops it', async () => {
      const { key } = await suite.made('/keys', { name: 'Phone' })
      const page = await suite.signedIn(`/connect#key=${key}&device=phone&sender=gpslogger`, {
        byForm: true,
      })
      expect(await secretOf(page)).toBe(key)
      expect(page.url()).toBe(`${suite.url}/connect`)
      expect(await page.getByLabel('GPSLogger', { exact: true }).isChecked()).toBe(true)
      expect(await page.getByRole('textbox', { name: 'Device id' }).inputValue()).toBe('phone')
    })

    test('a link’s key of another account is used only after a confirmation', async () => {
      const admin = { email: 'mallory@example.org', password: 'a foreign correct horse' }
      await suite.made('/accounts', { name: 'Foreign', admin })
      const foreign = await (await suite.open()).newPage()
      await foreign.goto(`${suite.url}/connect`)
      await suite.fillSignIn(foreign, admin.password, admin.email)
      await foreign.getByLabel('What is it called?').fill('truck-7')
      await foreign.getByRole('button', { name: 'Create a key' }).click()
      const key = await secretOf(foreign)

      const page = await suite.signedIn(`/connect#key=${key}&device=truck-7&sender=gpslogger`)
      await page.getByRole('alert').getByText('It is not a key of your account').waitFor()
      expect(page.url()).toBe(`${suite.url}/connect`)
      expect(await page.getByRole('main').innerHTML()).not.toContain(key)
      expect(await page.getByRole('textbox', { name: 'Device id' }).count()).toBe(0)
      await page.getByRole('button', { name: 'Use it anyway' }).click()
      expect(await secretOf(page)).toBe(key)
      expect(await page.getByRole('textbox', { name: 'Device id' }).inputValue()).toBe('truck-7')
    })
  })
})
