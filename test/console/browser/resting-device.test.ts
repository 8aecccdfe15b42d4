import { expect, test } from '@jest/globals'
import { eventually } from '../../eventually.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite, deviceRow } from './console-harness.ts'

describeConsole('a phone at rest that sends pings', () => {
  const suite = consoleSuite()

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
