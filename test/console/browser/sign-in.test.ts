import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite, deviceRow, EMAIL, PASSWORD } from './console-harness.ts'

describeConsole('signing in', () => {
  const suite = consoleSuite()

  test('the world map is behind the form, and requests nothing that needs a session', async () => {
    const page = await (await suite.open()).newPage()
    const refused: string[] = []
    page.on('response', (response) => {
      if (response.status() === 401) refused.push(new URL(response.url()).pathname)
    })
    await page.goto(suite.url)
    await page.locator('.world-backdrop canvas').first().waitFor()
    const seen = await page.locator('.card.sign-in').evaluate((card: never) => {
      const { left, top } = (
        card as { getBoundingClientRect(): { left: number; top: number } }
      ).getBoundingClientRect()
      const { document: page } = globalThis as never as {
        document: { elementFromPoint(x: number, y: number): { closest(of: string): unknown } }
      }
      const at = (x: number, y: number) => page.elementFromPoint(x, y)
      return [
        at(left + 9, top + 9).closest('.card') !== null,
        at(left - 9, top + 9).closest('.world-backdrop') !== null,
      ]
    })
    expect(seen).toEqual([true, true])
    expect(refused).toEqual(['/api/v1/session'])
  })

  test('signing in leads to the requested page, and signing out back', async () => {
    const page = await suite.signedIn('/audit', { byForm: true })
    await page.getByRole('heading', { name: 'Audit' }).waitFor()
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Audit')
    await page.getByText('session.created').first().waitFor()
    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByText(`${EMAIL}`, { exact: true }).filter({ visible: true }).first().waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  test('after signing in, the map appears with at most 180 kB of scripts and styles loaded', async () => {
    await suite.report({ deviceId: 'van-1', latitude: 48.2, longitude: 16.4 })
    const page = await suite.signedIn('/', { byForm: true })
    await deviceRow(page, 'van-1').waitFor()
    await page.locator('.map canvas').first().waitFor()
    const loaded = () =>
      page.evaluate<[name: string, bytes: number][]>(
        `performance.getEntriesByType('resource')
          .filter(({ name }) => /\\.(js|css)$/.test(name))
          .map(({ name, encodedBodySize }) => [name.split('/').at(-1), encodedBodySize])`,
      )
    // The last part comes after the page itself.
    await eventually(async () => (await loaded()).some(([name]) => name.startsWith('banners')))
    const kilobytes = (await loaded()).reduce((sum, [, bytes]) => sum + bytes, 0) / 1_000
    expect(kilobytes).toBeLessThan(180)
    expect(kilobytes).toBeGreaterThan(100)
  })

  test('signing in with a wrong password says so and keeps the e-mail', async () => {
    const context = await suite.open()
    const page = await context.newPage()
    await page.goto(suite.url)
    await suite.fillSignIn(page, 'wrong')
    await page.getByRole('alert').getByText('wrong').waitFor()
    expect(await page.getByRole('textbox', { name: 'E-mail' }).inputValue()).toBe(EMAIL)
  })

  test('signing in with an empty form shows errors at the fields', async () => {
    const context = await suite.open()
    const page = await context.newPage()
    await page.goto(suite.url)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Enter an e-mail').first().waitFor()
    const email = page.getByRole('textbox', { name: 'E-mail' })
    expect(await email.getAttribute('aria-invalid')).toBe('true')
  })

  test('a page whose session has ended asks to sign in, and continues where it was', async () => {
    const page = await suite.signedIn('/audit')
    await page.getByRole('heading', { name: 'Audit' }).waitFor()
    const refresh = page.getByRole('button', { name: 'Refresh' })
    await eventually(() => refresh.isEnabled())
    await page.context().clearCookies()
    // The live updates may have noticed it already, whose dialog is above the button.
    await refresh.dispatchEvent('click')
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
    await dialog.waitFor()
    for (let times = 0; times < 5; times += 1) await page.keyboard.press('Escape')
    await dialog.getByLabel('Password').fill('wrong')
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await dialog.getByRole('alert').waitFor()
    await dialog.getByLabel('Password').fill(PASSWORD)
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect(new URL(page.url()).pathname).toBe('/audit')
    await page.getByText('session.created').first().waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  test('signing in again resumes an unfinished change', async () => {
    const page = await suite.signedIn('/keys')
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('half done')
    await page.context().clearCookies()
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
    await dialog.getByLabel('Password').fill(PASSWORD)
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('textbox', { name: 'API key' }).waitFor()
    await page.getByRole('button', { name: 'I’ve saved it' }).click()
    await page.getByRole('row').filter({ hasText: 'half done' }).waitFor()
  })

  test('a new operator chooses a password before anything else, then continues', async () => {
    const email = 'new@example.org'
    const body = { email, role: 'dispatcher' }
    const { body: answer } = await suite.call('POST', '/operators', body)
    const { password } = answer.data as { password: string }
    const context = await suite.open()
    const page = await context.newPage()
    await page.goto(`${suite.url}/keys`)
    await suite.fillSignIn(page, password, email)
    await page.getByRole('heading', { name: 'Change your password' }).waitFor()
    expect(await page.getByRole('navigation').count()).toBe(0)
    await page.locator('input[name="current"]:focus').waitFor()
    await page.getByLabel('Current password').fill(password)
    const choose = async (next: string) => {
      await page.getByLabel('New password', { exact: true }).fill(next)
      await page.getByLabel('New password again').fill(next)
      await page.getByRole('button', { name: 'Change password' }).click()
    }
    await choose(password)
    await page.getByText('Choose a password other than the current one.').waitFor()
    await choose('quite another long password')
    await page.getByRole('heading', { name: 'Keys' }).waitFor()
    await page.locator('h1:focus').waitFor()
  })

  test('signing out in one tab signs out the others', async () => {
    const page = await suite.signedIn('/audit', { byForm: true })
    const other = await page.context().newPage()
    await other.goto(`${suite.url}/audit`)
    await other.getByRole('heading', { name: 'Audit' }).waitFor()
    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await other.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  test('signing in with another account shows nothing of the previous one, not even its pins', async () => {
    await suite.report(
      { deviceId: 'van-of-a', latitude: 48.2, longitude: 16.4 },
      { deviceId: 'lorry-of-a', latitude: 48.2, longitude: 16.4 },
    )
    const admin = { email: 'bob@example.org', password: 'another correct horse' }
    const { id } = await suite.made('/accounts', { name: 'B', admin })
    expect(id).toMatch(/.+/)
    const page = await suite.signedIn('/?device=van-of-a', { byForm: true })
    const pin = page.getByRole('button', { name: 'Pin to the top' })
    await pin.click()
    await page.getByRole('button', { name: 'Follow' }).click()
    await signOut(page)
    await suite.fillSignIn(page, admin.password, admin.email)
    await page.getByText('No device has reported yet').waitFor()
    expect(await page.content()).not.toContain('-of-a')
    expect(page.url()).not.toContain('-of-a')

    const keyB = await page.evaluate<string>(`fetch('/api/v1/keys', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Requested-With': 'console' },
      body: '{"name":"B"}',
    }).then(async (answer) => (await answer.json()).data.key)`)
    await suite.submit(keyB, { deviceId: 'van-of-a', latitude: 1, longitude: 2 })
    await deviceRow(page, 'van-of-a').getByRole('button').click()
    expect(await pin.getAttribute('aria-pressed')).toBe('false')
    const follow = page.getByRole('button', { name: 'Follow' })
    expect(await follow.getAttribute('aria-pressed')).toBe('false')
    await signOut(page)
    await suite.fillSignIn(page)
    await deviceRow(page, 'van-of-a').getByRole('button').click()
    expect(await pin.getAttribute('aria-pressed')).toBe('true')
  })

  async function signOut(page: Page): Promise<void> {
    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  }

  test('signing in at an address without a page shows a clear one', async () => {
    const page = await suite.signedIn('/keys')
    for (const path of ['/no/such/page', '/devices/%E0%A4', '/devices/%']) {
      await page.goto(suite.url + path)
      await page.getByRole('heading', { name: 'No such page' }).waitFor()
    }
    await page.getByRole('link', { name: 'To the map' }).click()
    await page.getByRole('status', { name: 'Connection' }).waitFor()
  })
})
