import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import type { Browser, Page } from 'playwright-core'
import { OWNTRACKS_ANDROID } from '../../../console/guides/owntracks.ts'
import { nginxSite, serveNginx } from '../../ops/proxies.ts'
import { startEmbedded, type Embedded } from '../../programs.ts'
import { endPrograms, type RunningProgram } from '../../running-programs.ts'
import { freePort } from '../../services/own-server.ts'
import { nginxProgram } from '../../services/programs.ts'
import { temporaryDirectory } from '../../temporary-directory.ts'
import { describeConsole } from './chromium.ts'
import { nameWithId } from './connecting.ts'
import { EMAIL, PASSWORD } from './console-harness.ts'
import { launchChromium } from './launch-chromium.ts'

const program = await nginxProgram().catch(() => undefined)
if (program === undefined) process.stderr.write('not tested: the console behind nginx\n')

/** Two services behind one real nginx: under /gps/, and under /b/. */
;(program === undefined && process.env['REQUIRE_SERVICES'] !== '1' ? skipped : describeConsole)(
  'the console below a path',
  () => {
    const directories: Awaited<ReturnType<typeof temporaryDirectory>>[] = []
    let browser: Browser
    let host = ''
    let serve: () => Promise<RunningProgram>
    let nginx: RunningProgram
    const asked: string[] = []

    beforeAll(async () => {
      const front = await freePort()
      host = `http://127.0.0.1:${front}`
      const sites: string[] = []
      for (const prefix of ['/gps', '/b']) sites.push(...(await site(prefix)))
      const directory = await ownDirectory()
      const joined = `server { listen 127.0.0.1:${front}; ${sites.join(' ')} }`
      serve = () => serveNginx([...rendered, joined], { directory, program: program ?? 'nginx' })
      nginx = await serve()
      browser = await launchChromium()
    })

    afterEach(async () => {
      await Promise.all(browser.contexts().map((context) => context.close()))
      expect(asked.splice(0).filter((url) => !url.startsWith(`${host}/gps/`))).toEqual([])
    })

    afterAll(async () => {
      await browser?.close()
      await endPrograms()
      await Promise.all(directories.map((one) => one.remove()))
    })

    const rendered: string[] = []

    /** A service behind the recipe on its own port; `host` passes the prefix on to it. */
    async function site(prefix: string): Promise<string[]> {
      const service = await startEmbedded(await ownDirectory(), {
        ADMIN_EMAIL: EMAIL,
        ADMIN_PASSWORD: PASSWORD,
        CONSOLE_PUBLIC_URL: `${host}${prefix}/`,
        INGEST_PUBLIC_URL: `${host}${prefix}`,
        TRUST_PROXY: '2',
      })
      const port = await freePort()
      const directory = await ownDirectory()
      rendered.push(nginxSite({ directory, prefix, front: port, ...portsOf(service) }))
      return [
        `location ${prefix} { proxy_pass http://127.0.0.1:${port}; proxy_buffering off;`,
        'proxy_http_version 1.1; proxy_set_header Host $http_host; proxy_read_timeout 1h; }',
      ]
    }

    async function ownDirectory(): Promise<string> {
      const directory = await temporaryDirectory()
      directories.push(directory)
      return directory.path
    }

    async function opened(path: string): Promise<Page> {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
      context.setDefaultTimeout(60_000)
      const page = await context.newPage()
      page.on('request', (request) => {
        if (!/^(data|blob):/.test(request.url())) asked.push(request.url())
      })
      await page.goto(host + path)
      return page
    }

    async function signIn(page: Page): Promise<void> {
      await page.getByRole('textbox', { name: 'E-mail' }).fill(EMAIL)
      await page.getByLabel('Password').fill(PASSWORD)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('navigation', { name: 'Console' }).waitFor()
    }

    async function signedIn(path: string): Promise<Page> {
      const page = await opened(path)
      await signIn(page)
      return page
    }

    /** A key created on the page "Connect a device". */
    async function keyOf(page: Page, deviceId: string, sender = 'curl'): Promise<string> {
      await page.getByLabel(sender).check()
      await nameWithId(page, deviceId)
      await page.getByRole('button', { name: 'Create a key' }).click()
      const secret = page.getByLabel('API key', { exact: true })
      await secret.waitFor()
      return secret.inputValue()
    }

    async function submit(key: string, deviceId: string): Promise<void> {
      const answer = await fetch(`${host}/gps/api/v1/gps/submit`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ deviceId, latitude: 48.2, longitude: 16.4 }),
      })
      expect(answer.status).toBe(200)
    }

    test('every page keeps to the path, opened by a link, by its address and by a reload', async () => {
      const page = await signedIn('/gps/connect')
      await submit(await keyOf(page, 'van/1'), 'van/1')
      const links = page.getByRole('navigation', { name: 'Console' }).getByRole('link')
      for (const link of await links.all()) {
        await link.click()
        const address = (await link.getAttribute('href')) ?? ''
        expect(address).toMatch(/^\/gps\//)
        await page.waitForURL(host + address)
        await page.reload()
        await page
          .getByRole('main')
          .getByRole('heading', { level: 1 })
          .waitFor({ state: 'attached' })
      }
      await page.goto(`${host}/gps/devices/van%2F1`)
      await page.getByRole('heading', { name: 'Now' }).waitFor()
      await page.getByRole('link', { name: 'To the map' }).click()
      await page.waitForURL(`${host}/gps/?device=van%2F1`)
      await page.goto(`${host}/gps/docs`)
      await page.getByText('Signs in').waitFor()
      expect(await page.locator('.servers option').textContent()).toBe('/gps')
    })

    test('a report to a guide’s address arrives through it', async () => {
      const page = await signedIn('/gps/connect')
      const key = await keyOf(page, 'phone', 'OwnTracks (Android)')
      await page.getByRole('img', { name: 'QR code that sets up OwnTracks' }).waitFor()
      const address = `${host}/gps`
      const url = await page.getByLabel('URL', { exact: true }).textContent()
      expect(url).toBe(`${address}/api/v1/senders/owntracks`)
      const place = { latitude: 1, longitude: 2, time: Math.floor(Date.now() / 1000) * 1000 }
      const example = OWNTRACKS_ANDROID.example({ address, key, deviceId: 'phone' }, place)
      expect((await fetch(example.url, example)).status).toBe(200)
      await page.getByText('phone has arrived').waitFor()
    })

    test('the live stream resumes when the proxy is back', async () => {
      const page = await signedIn('/gps/')
      const status = page.getByRole('status').filter({ hasText: 'live' })
      await status.waitFor()
      const resumed = page.waitForRequest(
        (request) =>
          request.url().startsWith(`${host}/gps/api/v1/stream`) &&
          request.headers()['last-event-id'] !== undefined,
      )
      nginx.process.kill('SIGKILL')
      await nginx.ended
      nginx = await serve()
      await resumed
      await status.waitFor()
    })

    test('a share link works through it', async () => {
      const page = await signedIn('/gps/connect')
      await submit(await keyOf(page, 'shared'), 'shared')
      await page.goto(`${host}/gps/shares?device=shared`)
      await page.getByRole('textbox', { name: 'Name' }).fill('Delivery')
      await page.getByRole('button', { name: 'Create link' }).click()
      const link = await page
        .getByRole('dialog', { name: 'Link created' })
        .getByRole('textbox', { name: 'Link' })
        .inputValue()
      expect(link).toMatch(`${host}/gps/share#gpsshare_`)
      const guest = await opened(link.slice(host.length))
      await guest.getByRole('heading', { name: 'Delivery' }).waitFor()
    })

    test('another service of the same host shares no cookie with it', async () => {
      const page = await signedIn('/gps/')
      await page.goto(`${host}/b/`)
      await signIn(page)
      const paths = (await page.context().cookies()).map(({ path }) => path)
      expect(paths.sort()).toEqual(['/b/', '/gps/'])
      await page.goto(`${host}/gps/keys`)
      await page.getByRole('button', { name: 'New key' }).waitFor()
      await page.getByRole('button', { name: 'Your account' }).click()
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByRole('textbox', { name: 'E-mail' }).waitFor()
      await page.goto(`${host}/b/keys`)
      await page.getByRole('button', { name: 'New key' }).waitFor()
      // From here on the page sends no more requests.
      await page.context().close()
      const others = asked.filter((url) => url.startsWith(`${host}/b/`))
      expect(others.length).toBeGreaterThan(0)
      asked.splice(0, asked.length, ...asked.filter((url) => !others.includes(url)))
    })
  },
)

function skipped(name: string): void {
  test.skip(`${name}: needs nginx`, () => undefined)
}

function portsOf({ adminUrl, ingestUrl }: Embedded) {
  return { admin: Number(new URL(adminUrl).port), ingest: Number(new URL(ingestUrl).port) }
}
