import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { startEmbedded, type Embedded } from '../../programs.ts'
import { endPrograms } from '../../running-programs.ts'
import { temporaryDirectory } from '../../temporary-directory.ts'
import { launchChromium } from './launch-chromium.ts'
import { KEEP_PAINTED } from './painted.ts'

const PLAIN_HOST = 'console.test'
export const EMAIL = 'ana@example.org'
export const PASSWORD = 'correct horse battery staple'

/** A created object; secrets are shown only this once. */
type Made = { readonly id: string; readonly key: string; readonly token: string }

type Answer = { readonly status: number; readonly body: { readonly data: never } }

/**
 * A real service and a browser for all tests of a file. What a page must never do is looked at after
 * each test: break its own policy, ask another origin, or throw.
 * @param env variables of the service besides the usual ones, once `beforeAll` has come to it.
 * @param origins which pages may ask besides the console's own.
 * @param hasWindows see `launchChromium`.
 */
export function consoleSuite({
  env = () => ({}),
  origins = () => [],
  hasWindows = false,
}: {
  env?: () => Record<string, string>
  origins?: () => readonly string[]
  hasWindows?: boolean
} = {}) {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>
  let service: Embedded
  let browser: Browser
  let cookie = ''
  let key = ''
  const contexts: BrowserContext[] = []
  const faults: string[] = []

  beforeAll(async () => {
    directory = await temporaryDirectory()
    service = await startEmbedded(directory.path, { ...ENV, ...env() })
    browser = await launchChromium({
      hasWindows,
      args: [`--host-resolver-rules=MAP ${PLAIN_HOST} 127.0.0.1`],
    })
    await signIn()
    key = (await made('/keys', { name: 'Gateway' })).key
  })

  afterEach(async () => {
    await Promise.all(contexts.splice(0).map(end))
    expect(faults.splice(0)).toEqual([])
  })

  afterAll(async () => {
    await browser?.close()
    await endPrograms()
    await directory?.remove()
  })

  /** Responses mocked by a test may still be pending when it ends. */
  async function end(context: BrowserContext): Promise<void> {
    const routed = [context, ...context.pages()]
    await Promise.all(routed.map((one) => one.unrouteAll({ behavior: 'ignoreErrors' })))
    await context.close()
  }

  async function signIn(): Promise<void> {
    const answer = await fetch(`${service.adminUrl}/api/v1/session`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email: EMAIL, password: PASSWORD }),
    })
    cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? ''
  }

  async function call(method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await fetch(`${service.adminUrl}/api/v1${path}`, {
      method,
      headers: {
        Cookie: cookie,
        'X-Requested-With': 'console',
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, body: (await answer.json()) as Answer['body'] }
  }

  async function made(path: string, body: unknown): Promise<Made> {
    const { status, body: answer } = await call('POST', path, body)
    expect(status).toBe(201)
    return answer.data
  }

  async function report(...reports: readonly object[]): Promise<void> {
    const answer = await fetch(`${service.ingestUrl}/api/v1/gps/batch`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ reports }),
    })
    const { data } = (await answer.json()) as { data: { rejected: number } }
    expect([answer.status, data.rejected]).toEqual([200, 0])
  }

  /** Sends one report with a key, and returns the status of the response. */
  async function submit(key: string, report: object): Promise<number> {
    const { status } = await fetch(`${service.ingestUrl}/api/v1/gps/submit`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(report),
    })
    return status
  }

  /** A separate browser context, without data of other tests. */
  async function open({
    asksForStreets = false,
    ...options
  }: Parameters<Browser['newContext']>[0] & {
    /** Whether the question about streets is still open. */
    asksForStreets?: boolean
  } = {}): Promise<BrowserContext> {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      // A 24-hour clock.
      locale: 'en-GB',
      ...options,
    })
    contexts.push(context)
    context.setDefaultTimeout(60_000)
    if (!asksForStreets) await context.addInitScript(IS_ASKED)
    context.on('page', (page) => watch(page))
    return context
  }

  function watch(page: Page): void {
    page.on('pageerror', (error) => faults.push(`threw: ${error.message}`))
    page.on('dialog', (dialog) => {
      faults.push(`script ran: ${dialog.message()}`)
      dialog.dismiss().catch(() => undefined)
    })
    page.on('console', (message) => {
      const text = message.text()
      if (/Content Security Policy|Trusted ?Type|violates/i.test(text)) faults.push(text)
    })
    page.on('request', (request) => {
      const { protocol, origin } = new URL(request.url())
      const known = [service.adminUrl, plainUrl(), ...origins()]
      if (/^(data|blob):$/.test(protocol) || known.includes(origin)) return
      faults.push(`asked another origin: ${request.url()}`)
    })
  }

  /** Another name of this machine, which browsers treat as a remote host over plain HTTP. */
  function plainUrl(): string {
    return `http://${PLAIN_HOST}:${new URL(service.adminUrl).port}`
  }

  /**
   * A page at the path, signed in; `window.painted` keeps what is painted in it.
   * @param byForm for a session of its own, which may end.
   */
  async function signedIn(
    path = '/',
    {
      url = service.adminUrl,
      byForm = false,
      ...options
    }: Parameters<typeof open>[0] & { url?: string; byForm?: boolean } = {},
  ): Promise<Page> {
    const context = await open(options)
    await context.addInitScript(KEEP_PAINTED)
    const [name = '', value = ''] = cookie.split('=')
    if (!byForm) await context.addCookies([{ name, value, url }])
    const page = await context.newPage()
    await page.goto(url + path)
    if (byForm) await fillSignIn(page)
    await page.getByRole('navigation', { name: 'Console' }).waitFor()
    return page
  }

  async function fillSignIn(page: Page, password = PASSWORD, email = EMAIL): Promise<void> {
    await page.getByRole('textbox', { name: 'E-mail' }).fill(email)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }

  async function restart(whileAway: () => Promise<void>): Promise<void> {
    const { port } = new URL(service.adminUrl)
    const ingestPort = new URL(service.ingestUrl).port
    service.process.kill('SIGKILL')
    await service.ended
    await whileAway()
    service = await startEmbedded(directory.path, {
      ...ENV,
      ...env(),
      ADMIN_PORT: port,
      INGEST_PORT: ingestPort,
    })
  }

  return {
    call,
    made,
    report,
    submit,
    open,
    signedIn,
    fillSignIn,
    restart,
    pause,
    get url() {
      return service.adminUrl
    },
    get plainUrl() {
      return plainUrl()
    },
    get ingestUrl() {
      return service.ingestUrl
    },
  }
}

export type ConsoleSuite = ReturnType<typeof consoleSuite>

/** The question whether to show streets has been answered. An empty page has no storage. */
const IS_ASKED = `if (location.protocol.startsWith('http') && !localStorage.getItem('gps-console.layer'))
  localStorage.setItem('gps-console.layer', 'asked')`

const ENV = { ADMIN_EMAIL: EMAIL, ADMIN_PASSWORD: PASSWORD, RATE_LIMIT_AUTH: 'off' }

/** Hides or shows a page, as when another tab or window covers it. */
export function setHidden(page: Page, isHidden: boolean): Promise<unknown> {
  return page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))`)
}

/** The list of the map page. */
export function deviceRow(page: Page, text: string) {
  return page.getByRole('list', { name: 'Devices' }).getByRole('listitem').filter({ hasText: text })
}

/** Chooses from the menu of a row: `chooseAction(page, 'Revoke', 'Gateway')`. */
export async function chooseAction(page: Page, word: string, name: string): Promise<void> {
  await page.getByRole('button', { name: `Actions ${name}` }).click()
  await page.getByRole('button', { name: `${word} ${name}` }).click()
}

/** Opens a page by its link, on a phone from under "More" where it is not in the bar. */
export async function follow(page: Page, name: string): Promise<void> {
  const link = page
    .getByRole('navigation', { name: 'Console' })
    .getByRole('link', { name, exact: true })
  await page.getByRole('navigation', { name: 'Console' }).waitFor()
  if (!(await link.isVisible())) await page.getByRole('button', { name: 'More' }).click()
  await link.click()
}
