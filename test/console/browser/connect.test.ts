import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import type { Example, Guide } from '../../../console/guides/guide.ts'
import { GUIDES } from '../../../console/guides/guides.ts'
import { OWNTRACKS_ANDROID } from '../../../console/guides/owntracks.ts'
import { eventually } from '../../eventually.ts'
import { describeConsole } from './chromium.ts'
import { chooseAction, consoleSuite, deviceRow } from './console-harness.ts'

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

describeConsole('connecting a device', () => {
  const suite = consoleSuite()

  /** A page with a device, its name and its key. */
  async function connecting(deviceId: string, sender = 'curl'): Promise<Page> {
    const page = await suite.signedIn()
    await link(page, 'Connect a device').click()
    await page.getByLabel(sender, { exact: true }).check()
    await page.getByRole('textbox', { name: 'Device id' }).fill(deviceId)
    await page.getByRole('button', { name: 'Create a key' }).click()
    await secretOf(page)
    return page
  }

  const link = (page: Page, name: string) =>
    page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name })
  const arrival = (page: Page) => page.getByRole('region', { name: 'Arrival' })
  const secretOf = (page: Page) => page.getByRole('textbox', { name: 'API key' }).inputValue()

  const submit = (key: string, report: object) =>
    fetch(`${suite.ingestUrl}/api/v1/gps/submit`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(report),
    })

  test('goes from signing in to a tick, and from there to the device on the map', async () => {
    const page = await connecting('first van')
    await page.getByRole('button', { name: 'Send a test report' }).click()
    await arrival(page).getByText('arrived').waitFor()
    await arrival(page).getByRole('link', { name: 'map' }).click()
    await deviceRow(page, 'first van').waitFor()
  })

  test('what is copied from the page is what a device needs', async () => {
    const page = await connecting('copied')
    const key = await secretOf(page)
    const command = await page.getByLabel('Command', { exact: true }).textContent()
    expect(command).toContain(`${suite.ingestUrl}/api/v1/gps/submit`)
    expect(command).toContain(`Bearer ${key}`)
    await page.getByText('is reached only from the computer').waitFor()
    expect((await submit(key, { deviceId: 'copied', latitude: 1, longitude: 2 })).status).toBe(200)
    await arrival(page).getByText('arrived').waitFor()
  })

  test('its history comes in by a command under the id that it reports with', async () => {
    const page = await connecting("jane's")
    await page.getByText('Bring in its history').click()
    const command = await page.getByLabel('Import', { exact: true }).textContent()
    const { origin } = new URL(suite.ingestUrl)
    expect(command).toBe(`npm run import -- --url '${origin}' --device 'jane'\\''s' FILE`)
  })

  test('an app is set up by its link or by hand, and the page waits for it under its own id', async () => {
    const page = await connecting('phone 1', 'OwnTracks (Android)')
    const key = await secretOf(page)
    await page.getByText('It reports as').getByText('owntracks/phone 1').waitFor()
    await page.getByRole('img', { name: 'QR code that sets up OwnTracks' }).waitFor()
    const href = await page.getByRole('link', { name: 'set up OwnTracks' }).getAttribute('href')
    const { url } = configurationIn(href ?? '')
    expect(url).toBe(`${suite.ingestUrl}/api/v1/senders/owntracks`)
    expect(await page.getByLabel('URL', { exact: true }).textContent()).toBe(url)
    expect(await page.getByLabel('Password', { exact: true }).textContent()).toBe(key)
    await arrival(page).getByText('owntracks/phone 1').waitFor()

    const setup = { address: suite.ingestUrl, key, deviceId: 'phone 1' }
    const place = { latitude: 95, longitude: 2, time: Math.floor(Date.now() / 1000) * 1000 }
    const send = ({ url, ...request }: Example) => fetch(url, request)
    expect((await send(OWNTRACKS_ANDROID.example(setup, place))).status).toBe(200)
    await arrival(page)
      .getByText(/^Refused/)
      .first()
      .waitFor()
    await arrival(page).getByText('atitude').first().waitFor()
    await send(OWNTRACKS_ANDROID.example(setup, { ...place, latitude: 1 }))
    await arrival(page).getByText('owntracks/phone 1 has arrived').waitFor()
    expect(await arrival(page).getByRole('button', { name: 'Yes' }).count()).toBe(0)
  })

  test('a key is made only once its guide says which id the device reports with', async () => {
    const page = await suite.signedIn()
    let letCome = () => {}
    const isHeld = new Promise<void>((resolve) => (letCome = resolve))
    await page.route('**/owntracks-*.js', async (route) => {
      await isHeld
      await route.continue()
    })
    await link(page, 'Connect a device').click()
    await page.getByRole('textbox', { name: 'Device id' }).fill('slow phone')
    const create = page.getByRole('button', { name: 'Create a key' })
    expect(await create.isDisabled()).toBe(true)
    letCome()
    await create.click()
    await page.getByText('It may send reports of owntracks/slow phone only').waitFor()
  })

  test('every guide is shown with the address and the key, and what to do when nothing arrives', async () => {
    const page = await connecting('any')
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

  test('a refused report says why within two seconds, and a good one after it arrives', async () => {
    const page = await connecting(MARKUP)
    const key = await secretOf(page)
    await arrival(page).getByText('Waiting').waitFor()
    const sentAt = Date.now()
    expect((await submit(key, { deviceId: MARKUP, latitude: 95, longitude: 2 })).status).toBe(400)
    await arrival(page).getByText('Latitude must be').waitFor()
    expect(Date.now() - sentAt).toBeLessThan(2_000)
    await arrival(page).getByText('What was sent').click()
    await arrival(page).getByText(MARKUP).waitFor()
    await submit(key, { deviceId: 'another id', latitude: 1, longitude: 2 })
    await arrival(page).getByText('It calls itself another id').waitFor()
    await arrival(page).getByRole('button', { name: 'Yes' }).click()
    expect(await page.getByRole('textbox', { name: 'Device id' }).inputValue()).toBe('another id')
    await page.getByRole('button', { name: 'Use it for another id' }).click()
    await page.getByText('It may send reports of another id only').waitFor()
    await eventually(async () => {
      const { status } = await submit(key, { deviceId: 'another id', latitude: 1, longitude: 2 })
      return status === 200
    })
    await arrival(page).getByText('another id has arrived').waitFor()
  })

  test('a phone is connected with four clicks and the scan of its code', async () => {
    const page = await suite.signedIn()
    await link(page, 'Connect a device').click()
    await page.getByLabel('OwnTracks (iOS)').click()
    await page.getByRole('textbox', { name: 'Device id' }).click()
    await page.keyboard.type('phone of anna')
    await page.getByRole('button', { name: 'Create a key' }).click()
    await page
      .getByRole('link', { name: 'set up OwnTracks' })
      .or(page.getByRole('img'))
      .first()
      .waitFor()
    await page.getByText('It may send reports of owntracks/phone of anna only').waitFor()
  })

  test('another name for the device makes no second key', async () => {
    const page = await connecting('one name')
    const key = await secretOf(page)
    await page.getByRole('textbox', { name: 'Device id' }).fill('other name')
    expect(await page.getByRole('button', { name: 'Create a key' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Use it for other name' }).click()
    await page.getByText('It may send reports of other name only').waitFor()
    expect(await secretOf(page)).toBe(key)
    await page.getByRole('button', { name: 'Connect another' }).click()
    expect(await page.getByRole('textbox', { name: 'Device id' }).inputValue()).toBe('')
    await page.getByRole('button', { name: 'Create a key' }).click()
    await page.getByRole('alert').getByText('Name the device first').waitFor()
  })

  test('a test report says that it makes a device, and can be removed', async () => {
    const page = await connecting('only tried')
    await page.getByText('It puts only tried on the map').waitFor()
    await page.getByRole('button', { name: 'Send a test report' }).click()
    await arrival(page).getByText('arrived').waitFor()
    await page.getByRole('button', { name: 'Remove the test report' }).click()
    await page.getByRole('status').getByText('is removed').waitFor()
    expect((await suite.call('GET', '/devices/only%20tried')).status).toBe(404)
  })

  test('a test report that is refused says why', async () => {
    const page = await connecting('refused')
    await page.getByRole('textbox', { name: 'Latitude' }).fill('north')
    await page.getByRole('button', { name: 'Send a test report' }).click()
    await arrival(page).getByText('Latitude must be').waitFor()
  })

  test('coming back finds everything but the secret, and pasting it goes on', async () => {
    const page = await connecting('left alone', 'Python')
    const key = await secretOf(page)
    await link(page, 'Keys').click()
    await page.getByRole('heading', { name: 'Keys' }).waitFor()
    await link(page, 'Connect a device').click()
    await page.getByText('its secret was shown once').waitFor()
    expect(await page.getByRole('textbox', { name: 'Device id' }).inputValue()).toBe('left alone')
    expect(await page.getByLabel('Python', { exact: true }).isChecked()).toBe(true)
    expect(await page.content()).not.toContain(key)
    const kept = await page.evaluate('JSON.stringify([localStorage, sessionStorage, location])')
    expect(kept).not.toContain(key)

    await page.getByText('Use an existing key').click()
    await page.getByLabel('Its secret').fill('gps_wrong')
    await page.getByRole('button', { name: 'Use it' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Its secret').fill(key)
    await page.getByRole('button', { name: 'Use it' }).click()
    expect(await secretOf(page)).toBe(key)
  })

  test('an address with a key in its fragment goes on with it, and no longer holds it', async () => {
    const { key } = await suite.made('/keys', { name: 'Phone' })
    const page = await suite.signedIn(`/connect#key=${key}&device=phone&sender=gpslogger`, {
      byForm: true,
    })
    expect(await secretOf(page)).toBe(key)
    expect(page.url()).toBe(`${suite.url}/connect`)
    expect(await page.getByLabel('GPSLogger', { exact: true }).isChecked()).toBe(true)
    expect(await page.getByRole('textbox', { name: 'Device id' }).inputValue()).toBe('phone')
  })

  test('a key of another account that a link brings is used only after a question', async () => {
    const admin = { email: 'mallory@example.org', password: 'a foreign correct horse' }
    await suite.made('/accounts', { name: 'Foreign', admin })
    const foreign = await (await suite.open()).newPage()
    await foreign.goto(`${suite.url}/connect`)
    await suite.fillSignIn(foreign, admin.password, admin.email)
    await foreign.getByRole('textbox', { name: 'Device id' }).fill('truck-7')
    await foreign.getByRole('button', { name: 'Create a key' }).click()
    const key = await secretOf(foreign)

    const page = await suite.signedIn(`/connect#key=${key}&device=truck-7&sender=gpslogger`)
    await page.getByRole('alert').getByText('It is no key of your account').waitFor()
    expect(page.url()).toBe(`${suite.url}/connect`)
    expect(await page.getByRole('main').innerHTML()).not.toContain(key)
    expect(await page.getByRole('textbox', { name: 'Device id' }).inputValue()).toBe('')
    await page.getByRole('button', { name: 'Use it all the same' }).click()
    expect(await secretOf(page)).toBe(key)
    expect(await page.getByRole('textbox', { name: 'Device id' }).inputValue()).toBe('truck-7')
  })

  test('what has arrived stays so when the session is renewed, and few calls ask for it', async () => {
    const page = await suite.signedIn('/connect')
    await page.getByLabel('curl').check()
    await page.getByRole('textbox', { name: 'Device id' }).fill('my-device')
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

  test('what is said while a dialog is open is said in it', async () => {
    const page = await suite.signedIn('/keys')
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Announced')
    await page.getByRole('button', { name: 'Create the key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Copy' }).first().click()
    await dialog
      .getByRole('status')
      .getByText(/cop(ied|ied: select it)/)
      .waitFor()
    for (let times = 0; times < 5; times += 1) await page.keyboard.press('Escape')
    expect(await secretOf(page)).toMatch(/^gps_/)
  })

  test('keys are made, found, rotated and revoked, and markup in a name stays text', async () => {
    const page = await suite.signedIn('/keys')
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill(MARKUP)
    await page.getByRole('button', { name: 'Create the key' }).click()
    const key = await secretOf(page)
    await page.getByRole('button', { name: 'I have it' }).click()
    const row = page.getByRole('row').filter({ hasText: MARKUP })
    await chooseAction(page, 'Rotate', MARKUP)
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
    const rotated = await secretOf(page)
    expect(rotated).not.toBe(key)
    await page.getByText('The secret before works until').waitFor()
    await page.getByRole('button', { name: 'I have it' }).click()
    await row.getByText('Rotating').waitFor()

    await page.getByRole('button', { name: 'Which key is this?' }).click()
    await page.getByLabel('Secret', { exact: true }).fill(key)
    await page.getByRole('button', { name: 'Find' }).click()
    await page.getByRole('dialog').getByText(MARKUP).waitFor()
    await page.keyboard.press('Escape')

    const [first = '', second = ''] = ['of that key', 'of it too']
    for (const deviceId of [first, second])
      await submit(rotated, { deviceId, latitude: 1, longitude: 2 })
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
    await page.getByRole('button', { name: 'Revoke for good' }).click()
    await row.getByText('Revoked').waitFor()
    expect((await submit(key, { deviceId: 'a', latitude: 1, longitude: 2 })).status).toBe(401)
  })

  test('a rejection appears on its page without a reload, and stays text', async () => {
    const { key } = await suite.made('/keys', { name: `Key ${MARKUP}` })
    const page = await suite.signedIn('/rejections')
    await page.getByText('A rejected report').or(page.getByRole('table')).first().waitFor()
    await submit(key, { deviceId: `live ${MARKUP}`, latitude: 95, longitude: 1 })
    const row = page.getByRole('row').filter({ hasText: `live ${MARKUP}` })
    await row.waitFor()
    await row.getByText('bytes').click()
    await row.locator('pre').getByText(MARKUP).waitFor()
    await row.getByText(`Key ${MARKUP}`).waitFor()
  })

  test('rejections are counted, and looked for by what they have in common and by time', async () => {
    const { key } = await suite.made('/keys', { name: 'Trackers' })
    for (const latitude of [91, 92])
      await submit(key, { deviceId: 'faulty', latitude, longitude: 1 })
    const page = await suite.signedIn('/rejections', { timezoneId: 'Europe/Vienna' })
    const counts = page.getByRole('region', { name: 'How many' })
    const faulty = counts.getByRole('listitem').filter({ hasText: 'faulty' })
    expect(await faulty.locator('.number').textContent()).toBe('2')
    await faulty.getByRole('button').click()
    expect(new URL(page.url()).searchParams.get('deviceId')).toBe('faulty')
    await counts.getByText('2 by reason').waitFor()
    await counts.getByText('2 reports were rejected.').waitFor()
    const row = page.getByRole('table').getByRole('row').filter({ hasText: 'faulty' })
    await row.getByText('Latitude must be').waitFor()
    await row.getByText('Correct it where the device').waitFor()
    expect(await row.getByRole('cell').nth(2).textContent()).toBe('2')
    await row.getByRole('link', { name: 'faulty' }).waitFor()
    await row.getByRole('link', { name: 'Trackers' }).waitFor()
    await page.getByLabel('From').fill('2026-01-31T12:30')
    await page.getByLabel('From').blur()
    expect(new URL(page.url()).searchParams.get('from')).toBe('2026-01-31T11:30:00.000Z')
    await page.getByRole('row').filter({ hasText: 'faulty' }).first().waitFor()
    await page.getByLabel('To', { exact: true }).fill('2026-01-31T12:31')
    await page.getByLabel('To', { exact: true }).blur()
    await page.getByText('Nothing of this kind was rejected').waitFor()
    await submit(key, { deviceId: 'faulty', latitude: 93, longitude: 1 })
    await page.getByRole('button', { name: 'Show all' }).click()
    await counts.getByText(/by reason/).waitFor()
    expect(new URL(page.url()).search).toBe('')
  })

  test('the audit is looked through by who did it and when', async () => {
    const helper = { email: 'hal@example.org', password: 'another admin of this', role: 'admin' }
    const { id } = await suite.made('/operators', helper)
    const page = await suite.signedIn('/audit')
    await page.getByRole('combobox', { name: 'Who' }).selectOption('hal@example.org')
    expect(new URL(page.url()).searchParams.get('operatorId')).toBe(id)
    await page.getByText('Nothing to see here').waitFor()
    await page.getByRole('combobox', { name: 'Who' }).selectOption('All')
    await page.getByText('added the operator hal@example.org, as admin.').first().waitFor()
    await page.getByRole('combobox', { name: 'What', exact: true }).selectOption('created the key')
    const made = page.getByRole('row').filter({ hasText: 'created the key' }).first()
    await made.getByText('key.created', { exact: true }).click()
    await made.locator('pre').getByText('"requestId"').waitFor()
    expect(await page.getByText('added the operator').count()).toBe(1)
    await page.getByLabel('To', { exact: true }).fill('2026-01-31T12:30')
    await page.getByLabel('To', { exact: true }).blur()
    await page.getByText('Nothing to see here').waitFor()
  })

  test('viewers see no control that changes anything, and are told why', async () => {
    const viewer = { email: 'vic@example.org', password: 'a viewer of this account' }
    await suite.made('/operators', { ...viewer, role: 'viewer' })
    const page = await (await suite.open()).newPage()
    await page.goto(`${suite.url}/keys`)
    await page.getByRole('textbox', { name: 'E-mail' }).fill(viewer.email)
    await page.getByLabel('Password').fill(viewer.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('row').filter({ hasText: 'Gateway' }).waitFor()
    const buttons = page.getByRole('main').getByRole('button')
    const menus = buttons.and(page.getByRole('button', { name: /^Actions / }))
    expect(await buttons.count()).toBe(await menus.count())
    await menus.first().click()
    await page.locator('[popover]:popover-open').getByRole('button', { name: 'Devices' }).waitFor()
    expect(await page.locator('[popover]:popover-open button').count()).toBe(1)
    await page.keyboard.press('Escape')
    await link(page, 'Connect a device').click()
    await page.getByText('Ask one for the secret').waitFor()
    expect(await page.getByRole('button', { name: /Create a key|Send a test/ }).count()).toBe(0)
    for (const name of ['Operators', 'Accounts', 'Audit']) {
      expect(await link(page, name).count()).toBe(0)
    }
    await page.goto(`${suite.url}/operators`)
    await page.getByRole('heading', { name: 'Not allowed for you' }).waitFor()
  })
})
