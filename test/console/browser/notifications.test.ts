import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { accessFaults, faultsInLooks } from './access-faults.ts'
import { describeConsole } from './chromium.ts'
import { chooseAction, consoleSuite, follow, PASSWORD } from './console-harness.ts'

type Received = { readonly path: string; readonly body: string }
type Stored = {
  readonly id: string
  readonly name: string
  readonly state: string
  readonly mark: string
  readonly target: object
}

/** Responds with the status that the path starts with: `/500/x`. */
async function startReceiver() {
  const received: Received[] = []
  const server: Server = createServer((request, response) => {
    let body = ''
    request.on('data', (part) => (body += String(part)))
    request.on('end', () => {
      const path = request.url ?? ''
      received.push({ path, body })
      const status = Number(/^\/(\d{3})/.exec(path)?.[1] ?? 200)
      response.writeHead(status).end(status < 300 ? 'thank you' : 'out of <b>order</b>')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { received, server, host: `127.0.0.1:${port}` }
}

describeConsole('the notifications page', () => {
  let receiver: Awaited<ReturnType<typeof startReceiver>>
  const suite = consoleSuite({ env: () => ({ WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8' }) })
  let ruleId = ''
  let strictId = ''

  beforeAll(async () => {
    receiver = await startReceiver()
    const shape = { type: 'circle', latitude: 48.2, longitude: 16.4, radius: 200 }
    await suite.made('/geofences', { name: 'Yard', shape })
    ruleId = (await suite.made('/rules', { name: 'Fast', when: { field: 'speed', above: 25 } })).id
    await suite.made('/rules', { name: 'Low', when: { field: 'battery', below: 0.2 } })
    await suite.report({ deviceId: 'known-1', latitude: 48, longitude: 16 })
    await eventually(async () => (await suite.call('GET', '/devices/known-1')).status === 200)
    // The third try comes 35 s after the first: early enough for the test that looks at it.
    strictId = (await subscribed('Strict', '422/strict', { types: ['alarm.reported'] })).id
    const alarm = { attributes: { alarm: 'powerCut' } }
    await suite.report({ deviceId: 'known-1', latitude: 48, longitude: 16, ...alarm })
  })
  afterAll(() => void receiver?.server.close())

  const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text })
  const form = (page: Page, name = 'New notification') => page.getByRole('dialog', { name })
  const save = (page: Page) => page.getByRole('button', { name: 'Save' }).click()
  const banner = (page: Page) => page.getByRole('status').filter({ hasText: /failing|disabled/ })
  const hook = (path: string) => `http://${receiver.host}/${path}`
  const requests = (path: string) => receiver.received.filter((one) => one.path === `/${path}`)
  let devices = 0

  /** Causes an event: a device comes online. */
  async function happen(deviceId = `van-${(devices += 1)}`): Promise<string> {
    await suite.report({ deviceId, latitude: 48.2, longitude: 16.4 })
    return deviceId
  }

  const subscribed = (name: string, path: string, fields: object = {}) =>
    suite.made('/subscriptions', {
      name,
      source: 'facts',
      types: ['device.online'],
      target: { kind: 'webhook', url: hook(path) },
      ...fields,
    })

  async function stored(name: string): Promise<Stored | undefined> {
    const { body } = await suite.call('GET', '/subscriptions')
    return (body.data as { items: Stored[] }).items.find((one) => one.name === name)
  }

  const deleted = (...ids: readonly string[]) =>
    Promise.all(ids.map((id) => suite.call('DELETE', `/subscriptions/${id}`)))

  test('a webhook is created, its secret is shown once, and a test shows the receiver’s response', async () => {
    const page = await suite.signedIn('/')
    await follow(page, 'Notifications')
    await page.getByRole('button', { name: 'New notification' }).click()
    await form(page).getByLabel('When').selectOption('One of these events happens …')
    await form(page).getByLabel('Device came online').check()
    await save(page)
    await form(page).getByText('Choose a receiver.').waitFor()
    await form(page).getByLabel('Tell').selectOption('A program, by webhook')
    await form(page).getByLabel('Device came online').uncheck()
    await save(page)
    await form(page).getByText('Choose an event.').waitFor()
    await form(page).getByLabel('Device came online').check()
    await save(page)
    await form(page).getByText('Enter a URL.').waitFor()
    await form(page).getByLabel('URL').fill('http://192.0.2.1/secret-path')
    await save(page)
    await form(page).getByText('WEBHOOK_ALLOW_NETWORKS').waitFor()
    await form(page).getByLabel('URL').fill(hook('200/made'))
    await save(page)
    const made = page.getByRole('dialog', { name: 'Notification created' })
    const secret = await made.getByRole('textbox', { name: 'signing secret' }).inputValue()
    expect(secret).toMatch(/^whsec_/)
    await made.getByRole('button', { name: 'Send a test' }).click()
    await made.getByText(/^Response 200 in \d+ ms$/).waitFor()
    await made.getByText('thank you').waitFor()
    expect(JSON.parse(requests('200/made')[0]?.body ?? '')).toMatchObject({ type: 'test' })
    await made.getByRole('button', { name: 'I’ve saved it' }).click()
    await row(page, 'Device came online').getByText(`Webhook at ${receiver.host}`).waitFor()
    expect(await page.content()).not.toMatch(/whsec_|200\/made/)
    const deviceId = await happen()
    await eventually(() => requests('200/made').some(({ body }) => body.includes(deviceId)))
    await row(page, 'Device came online').getByText('Last sent').waitFor()
    await chooseAction(page, 'Replace secret', 'Device came online')
    await page.getByRole('dialog').getByRole('button', { name: 'Replace secret' }).click()
    const renewed = page.getByRole('dialog', { name: 'New secret' })
    const another = await renewed.getByRole('textbox', { name: 'signing secret' }).inputValue()
    expect(another).toMatch(/^whsec_/)
    expect(another).not.toBe(secret)
    await renewed.getByRole('button', { name: 'I’ve saved it' }).click()
    expect(await page.content()).not.toContain('whsec_')
    // The kind used last is preselected for the next one.
    await page.goto(`${suite.url}/notifications?rule=${ruleId}`)
    await form(page).getByLabel('Fast').waitFor()
    expect(await form(page).getByLabel('Tell').inputValue()).toBe('webhook')
    await deleted((await stored('Device came online'))?.id ?? '')
  })

  test('rules, devices and hours are chosen in plain words, and changed', async () => {
    const page = await suite.signedIn('/notifications', { timezoneId: 'Europe/Berlin' })
    await page.getByRole('button', { name: 'New notification' }).click()
    await form(page).getByLabel('When').selectOption('One of these rules is raised …')
    await form(page).getByLabel('Fast').check()
    await form(page).getByLabel('Also their end').uncheck()
    await form(page).getByLabel('Some devices').check()
    await form(page).getByRole('combobox', { name: 'Devices' }).fill('known-1')
    await form(page).getByRole('option', { name: 'known-1' }).click()
    await form(page).getByText('Only at some hours').click()
    for (const day of ['Mon', 'Tue', 'Wed']) await form(page).getByLabel(day).check()
    await form(page).getByLabel('From').fill('18:00')
    await form(page).getByLabel('To', { exact: true }).fill('00:00')
    await form(page).getByLabel('Tell').selectOption('E-mail')
    await save(page)
    await form(page).getByText('E-mail needs a mail server: set SMTP_URL and SMTP_FROM.').waitFor()
    await form(page).getByLabel('Tell').selectOption('A phone, by ntfy')
    await form(page).getByLabel('URL of the topic').fill(hook('200/topic'))
    await form(page).getByLabel('Name').fill('Night desk')
    await save(page)
    const made = page.getByRole('dialog', { name: 'Notification created' })
    await made.getByRole('button', { name: 'Send a test' }).click()
    await made.getByText('Response 200').waitFor()
    await made.getByRole('button', { name: 'Close' }).click()
    await row(page, 'Rule Fast raised').getByText('Mon to Wed 18:00–24:00').waitFor()
    const hours = { days: [1, 2, 3], from: '18:00', to: '24:00', zone: 'Europe/Berlin' }
    const target = { kind: 'ntfy', url: `http://${receiver.host}` }
    const fields = { types: ['rule.raised'], ruleIds: [ruleId], deviceIds: ['known-1'] }
    expect(await stored('Night desk')).toMatchObject({ ...fields, hours, target })

    await chooseAction(page, 'Edit', 'Night desk')
    const changed = form(page, 'Edit notification')
    expect(await changed.getByLabel('To', { exact: true }).inputValue()).toBe('00:00')
    await changed.getByLabel('Time zone').fill('Mars/Crater')
    await save(page)
    await changed.getByText('Time zone must be the name of a time zone').waitFor()
    await changed.getByLabel('Time zone').fill('UTC')
    await changed.getByLabel('Low').check()
    await changed.getByLabel('All devices').check()
    await changed.getByText('More', { exact: true }).click()
    await changed.getByText('Empty: an hour.').waitFor()
    await changed.getByLabel('Skip items older than').fill('31')
    await changed.getByLabel('Unit').selectOption('days')
    await save(page)
    await changed.getByText('Enter a whole number from 1 to 30.').waitFor()
    await changed.getByLabel('Skip items older than').fill('2')
    await save(page)
    await row(page, 'Rule Fast or Low raised').getByText('All devices').waitFor()
    await row(page, 'Rule Fast or Low raised').getByText('nothing older than 2 days').waitFor()
    const after = await stored('Night desk')
    expect(after).toMatchObject({
      hours: { ...hours, zone: 'UTC' },
      target,
      maxAgeSeconds: 172_800,
    })
    expect(after).not.toHaveProperty('deviceIds')
    await chooseAction(page, 'Edit', 'Night desk')
    // Changed settings are in sight.
    const age = changed.getByLabel('Skip items older than')
    expect(await age.inputValue()).toBe('2')
    expect(await changed.getByLabel('Unit').inputValue()).toBe('days')
    await age.fill('')
    await save(page)
    await row(page, 'nothing older').waitFor({ state: 'detached' })
    expect(await stored('Night desk')).not.toHaveProperty('maxAgeSeconds')
    await chooseAction(page, 'Delete', 'Night desk')
    await page.getByRole('button', { name: 'Delete notification' }).click()
    await row(page, 'Night desk').waitFor({ state: 'detached' })
    expect(await stored('Night desk')).toBeUndefined()
  })

  test('positions go to a webhook, with a limited frequency', async () => {
    const page = await suite.signedIn('/notifications')
    await page.getByRole('button', { name: 'New notification' }).click()
    await form(page).getByLabel('When').selectOption('A position arrives')
    const kinds = form(page).getByLabel('Tell').getByRole('option')
    expect(await kinds.allTextContents()).toEqual(['A program, by webhook'])
    await form(page).getByLabel('URL').fill(hook('200/positions'))
    await form(page).getByLabel('Seconds between two deliveries').fill('often')
    await save(page)
    await form(page).getByText('Enter a whole number from 0 to 3600.').waitFor()
    await form(page).getByLabel('Seconds between two deliveries').fill('3600')
    await form(page).getByLabel('Items in a request').fill('100')
    await form(page).getByLabel('Headers').fill('Authorization: Bearer of-the-archive')
    await save(page)
    await page.getByRole('button', { name: 'I’ve saved it' }).click()
    await row(page, 'Every position').getByText('at least 1 hour apart').waitFor()
    const made = await stored('Every position')
    expect(made).toMatchObject({ source: 'positions', everySeconds: 3_600, target: { batch: 100 } })
    const deviceId = await happen()
    await eventually(() => requests('200/positions').some(({ body }) => body.includes(deviceId)))
    await deleted(made?.id ?? '')
  })

  test('hours without a day apply to every day, and none are preselected', async () => {
    const page = await suite.signedIn('/notifications', { timezoneId: 'UTC' })
    const make = async (name: string, from: string, to: string) => {
      await page.getByRole('button', { name: 'New notification' }).click()
      await form(page).getByLabel('Device came online').check()
      await form(page).getByText('Only at some hours').click()
      await form(page).getByLabel('From').fill(from)
      await form(page).getByLabel('To', { exact: true }).fill(to)
      await form(page).getByLabel('Tell').selectOption('A phone, by ntfy')
      await form(page).getByLabel('URL of the topic').fill(hook('200/nights'))
      await form(page).getByLabel('Name').fill(name)
      await save(page)
      await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
      return stored(name)
    }
    const night = await make('At night', '20:00', '6 am')
    const days = [1, 2, 3, 4, 5, 6, 7]
    expect(night).toMatchObject({ hours: { days, from: '20:00', to: '06:00', zone: 'UTC' } })
    const always = await make('Always', '', '')
    expect(always).not.toHaveProperty('hours')
    await deleted(night?.id ?? '', always?.id ?? '')
  })

  test('a failing notification says so on its page and on every other, and continues once it has a new receiver', async () => {
    const { id } = await subscribed('Old ERP', '500/erp')
    await happen()
    await eventually(async () => (await stored('Old ERP'))?.state === 'failing')
    const page = await suite.signedIn('/keys')
    await banner(page).getByText('Old ERP').waitFor()
    expect(await accessFaults(page)).toEqual([])
    await banner(page).getByRole('link', { name: 'Show' }).click()
    await page.waitForURL(`**/notifications/${id}`)
    const state = `Failing since \\d\\d:\\d\\d: 500 from ${receiver.host}; 1 waits`
    await page.getByText(new RegExp(`^${state}$`)).waitFor()
    const failed = row(page, 'reported for the first time')
    await failed.first().getByText('out of <b>order</b>').waitFor()
    await failed.first().getByText('What was sent').click()
    await failed.first().getByText('Rendered again with current names').waitFor()
    await failed.first().getByText('"type": "device.online"').waitFor()
    const below = async (text: string) => (await failed.first().getByText(text).boundingBox())?.y
    expect(await below('Response 500')).toBeLessThan((await below('What was sent')) ?? 0)
    expect(await page.content()).not.toContain('500/erp')
    await page.getByText(/^Tries again in /).waitFor()
    const before = requests('500/erp').length
    await page.getByRole('button', { name: 'Try now', exact: true }).click()
    await eventually(() => requests('500/erp').length > before)
    await page.getByRole('button', { name: 'Failed', exact: true }).click()
    await page.waitForURL((url) => url.searchParams.get('outcome') === 'failed')
    await failed.first().waitFor()
    await page.goto(`${suite.url}/system`)
    await page.getByText('Old ERP').first().waitFor()
    expect(await page.getByText('All is well.').count()).toBe(0)
    await page.goto(`${suite.url}/notifications/${id}`)
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page
      .getByRole('status')
      .getByText(/^Response 500/)
      .waitFor()
    await row(page, 'Test').first().waitFor()
    await chooseAction(page, 'Edit', 'Old ERP')
    const changed = form(page, 'Edit notification')
    await changed.getByLabel('Tell').selectOption('A program, by webhook')
    await changed.getByLabel('URL').fill(hook('200/erp'))
    await save(page)
    await page.getByText(/^Last sent/).waitFor()
    await failed.first().getByText('thank you').waitFor()
    await banner(page).waitFor({ state: 'detached' })
    expect(requests('200/erp')).toHaveLength(1)
    await deleted(id)
  })

  test('the table is never wider than the page', async () => {
    const { id } = await subscribed('Everything that the office wants to know', '200/wide', {
      deviceIds: ['known-1', 'known-2'],
    })
    const page = await suite.signedIn('/notifications')
    await row(page, 'Everything').waitFor()
    const wider: [width: number, by: number][] = []
    for (let width = 720; width <= 1_440; width += 40) {
      await page.setViewportSize({ width, height: 800 })
      const by = await page.evaluate<number>(`(() => {
        const table = document.querySelector('table')
        return table.getBoundingClientRect().right - table.parentElement.querySelector('header').getBoundingClientRect().right
      })()`)
      if (by > 0.5) wider.push([width, by])
    }
    expect(wider).toEqual([])
    await deleted(id)
  })

  test('a 410 response disables a notification; once enabled, it continues where it stopped', async () => {
    const { id } = await subscribed('Gone', '410/gone')
    await happen()
    await eventually(async () => (await stored('Gone'))?.state === 'disabled')
    const mark = (await stored('Gone'))?.mark
    const page = await suite.signedIn('/notifications')
    await row(page, 'Disabled, failing since').getByText('410 from').waitFor()
    await banner(page).getByText('Gone is disabled').waitFor()
    const before = requests('410/gone').length
    await chooseAction(page, 'Enable', 'Gone')
    await page.getByRole('dialog').getByRole('button', { name: 'Enable' }).click()
    await eventually(() => requests('410/gone').length > before)
    await eventually(async () => (await stored('Gone'))?.state === 'disabled')
    expect((await stored('Gone'))?.mark).toBe(mark)
    await page.goto(`${suite.url}/notifications/${id}`)
    await chooseAction(page, 'Delete', 'Gone')
    await page.getByRole('button', { name: 'Delete notification' }).click()
    await page.getByRole('heading', { name: 'Notifications', exact: true }).waitFor()
    await banner(page).waitFor({ state: 'detached' })
  })

  test('sent and refused items can be resent, and a rewind resends all of them', async () => {
    const { id } = await subscribed('Again', '200/again')
    const many = await subscribed('Many', '503/many', {
      source: 'positions',
      types: null,
      deviceIds: ['known-1'],
      target: { kind: 'webhook', url: hook('503/many'), batch: 500 },
    })
    await suite.report(...backlog(250))
    await eventually(async () => (await stored('Many'))?.state === 'failing')
    const deviceId = await happen()
    await eventually(() => requests('200/again').length === 1)
    const page = await suite.signedIn(`/notifications/${id}`)
    const deliveries = page.getByRole('table', { name: 'Deliveries' })
    await deliveries.getByRole('button', { name: 'Send again' }).click()
    await eventually(() => requests('200/again').length === 2)
    await page.getByText('It will be resent').waitFor()
    await eventually(async () => (await deliveries.getByRole('row').count()) === 3)
    await happen()
    await eventually(() => requests('200/again').length === 3)
    await chooseAction(page, 'Rewind', 'Again')
    await page.getByLabel('Time', { exact: true }).fill('2999-01-01T00:00')
    await page.getByRole('dialog').getByRole('button', { name: 'Rewind' }).click()
    await page.getByText('Enter a time that has passed.').waitFor()
    await page.getByLabel('Continue from').selectOption('The start')
    await page.getByRole('dialog').getByRole('button', { name: 'Rewind' }).click()
    await eventually(() => requests('200/again').filter(toldOf(deviceId)).length === 3)
    await page.goto(`${suite.url}/notifications/${many.id}`)
    await chooseAction(page, 'Edit', 'Many')
    const changed = form(page, 'Edit notification')
    await changed.getByLabel('Tell').selectOption('A program, by webhook')
    await changed.getByLabel('URL').fill(hook('200/many'))
    await changed.getByLabel('Items in a request').fill('500')
    await save(page)
    const largest = row(page, 'and 249 more').filter({ hasText: 'thank you' })
    await largest.getByRole('button', { name: 'Send again' }).click()
    await page.getByText('It will be resent').waitFor()
    await eventually(() => recordsOf(requests('200/many')).length === 500)
    const sent = recordsOf(requests('200/many'))
    expect(new Set(sent).size).toBe(250)
    expect(sent.slice(250)).toEqual(sent.slice(0, 250).toSorted())
    let calls = 0
    await page.route('**/resend', (route) => {
      calls += 1
      return calls === 1 ? route.continue() : route.abort()
    })
    await largest.getByRole('button', { name: 'Send again' }).click()
    await page.getByText('Only 100 of 250 items will be resent.').waitFor()
    await eventually(() => recordsOf(requests('200/many')).length === 600)
    await page.goto(`${suite.url}/notifications/${strictId}`)
    const refused = page.getByRole('table', { name: 'Refused three times' })
    await refused.getByText('422').first().waitFor({ timeout: 120_000 })
    await page.unroute('**/resend')
    const before = requests('422/strict').length
    await refused.getByRole('button', { name: 'Send again' }).first().click()
    await eventually(() => requests('422/strict').length > before)
    await deleted(id, strictId, many.id)
  })

  test('a viewer sees notifications, but neither controls nor sent content', async () => {
    const { id } = await subscribed('Seen', '500/seen')
    await happen()
    await eventually(async () => (await stored('Seen'))?.state === 'failing')
    const email = 'vera@example.org'
    await suite.made('/operators', { email, password: PASSWORD, role: 'viewer' })
    const page = await (await suite.open()).newPage()
    const calls: string[] = []
    page.on('request', (request) => calls.push(request.url()))
    await page.goto(`${suite.url}/notifications`)
    await suite.fillSignIn(page, PASSWORD, email)
    await row(page, 'Seen').getByText('Failing since').waitFor()
    expect(await page.getByRole('button', { name: /notification|Actions/ }).count()).toBe(0)
    await page.getByRole('link', { name: 'Seen' }).click()
    await page.getByRole('heading', { name: 'Seen' }).waitFor()
    await page.getByText('Failing since').waitFor()
    expect(await page.getByRole('button', { name: /test|Actions/ }).count()).toBe(0)
    expect(await banner(page).count()).toBe(0)
    expect(calls.filter((url) => url.includes('deliveries'))).toEqual([])
    await deleted(id)
  })

  test('it is accessible and fits a phone and a desktop, light and dark', async () => {
    const made = [
      await subscribed('W'.repeat(64), '500/wide'),
      await subscribed('Refused', '422/wide'),
    ]
    await happen()
    await eventually(async () => (await stored('W'.repeat(64)))?.state === 'failing')
    const page = await suite.signedIn('/notifications')
    await banner(page).waitFor()
    await row(page, 'W'.repeat(64)).first().waitFor()
    expect(await faultsInLooks(page)).toEqual([])
    await page.getByRole('button', { name: 'New notification' }).click()
    for (const about of ['One of these rules is raised …', 'One of these events happens …']) {
      await form(page).getByLabel('When').selectOption(about)
    }
    await form(page).getByLabel('Tell').selectOption('A program, by webhook')
    for (const fold of await form(page).locator('summary').all()) await fold.click()
    expect(await faultsInLooks(page)).toEqual([])
    for (const { id } of made) {
      await page.goto(`${suite.url}/notifications/${id}`)
      await row(page, 'reported for the first time').first().waitFor()
      expect(await faultsInLooks(page)).toEqual([])
    }
    await deleted(...made.map(({ id }) => id))
  })
})

/** Reports of one device, a second apart. */
function backlog(count: number): readonly object[] {
  const begin = Date.now() - count * 1_000
  return Array.from({ length: count }, (_, n) => ({
    deviceId: 'known-1',
    latitude: 48,
    longitude: 16,
    timestamp: new Date(begin + n * 1_000).toISOString(),
  }))
}

/** The ids of the records in requests with batches. */
function recordsOf(requests: readonly Received[]): readonly string[] {
  type Batch = { readonly data: { readonly items: readonly { data: { recordId: string } }[] } }
  return requests.flatMap(({ body }) =>
    (JSON.parse(body) as Batch).data.items.map(({ data }) => data.recordId),
  )
}

function toldOf(deviceId: string): (one: Received) => boolean {
  return ({ body }) => body.includes(`"${deviceId}"`)
}
