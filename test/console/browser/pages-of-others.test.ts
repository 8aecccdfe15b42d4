import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { describeConsole } from './chromium.ts'
import { consoleSuite, EMAIL, PASSWORD } from './console-harness.ts'

/** Pages of an origin in CORS_ORIGINS, and of another one. */
describeConsole('a page of another origin', () => {
  const origins: string[] = []
  const servers: Server[] = []
  beforeAll(async () => {
    for (const name of ['listed', 'other']) {
      const server = createServer((_, response) => {
        response.writeHead(200, { 'Content-Type': 'text/html' }).end(`<title>${name}</title>`)
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      servers.push(server)
      origins.push(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    }
  })
  afterAll(() => servers.forEach((server) => server.close()))
  const suite = consoleSuite({
    env: () => ({ CORS_ORIGINS: origins[0] ?? '' }),
    origins: () => [...origins, suite.ingestUrl],
  })

  /** A page whose browser is also signed in to the console. */
  async function pageAt(origin: string | undefined): Promise<Page> {
    const page = await suite.signedIn()
    await page.goto(origin ?? '')
    return page
  }

  /** The response to a `fetch` in the page, or `blocked`. */
  function fetched(page: Page, url: string, options: object): Promise<unknown> {
    return page.evaluate(`fetch(${JSON.stringify(url)}, ${JSON.stringify(options)}).then(
      async (answer) => [answer.status, answer.headers.get('RateLimit') !== null, await answer.json()],
      () => 'blocked')`)
  }

  async function submit(page: Page, key: string): Promise<unknown> {
    return fetched(page, `${suite.ingestUrl}/api/v1/gps/submit`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${key}`,
        'Content-Type': 'application/json',
        'Idempotency-Key': 'one',
      },
      body: JSON.stringify({ deviceId: 'page-1', latitude: 48.2, longitude: 16.4 }),
    })
  }

  test('a page of another origin sends reports and reads the stream with a key', async () => {
    const scopes = ['positions:write', 'positions:read', 'devices:read']
    const { key } = await suite.made('/keys', { name: 'Page', scopes })
    const page = await pageAt(origins[0])
    const stream = `${suite.url}/api/v1/stream`
    const position = page.evaluate(`(async () => {
      const headers = { Authorization: 'Bearer ${key}' }
      const { body } = await fetch('${stream}', { headers })
      window.isOpen = true
      let text = ''
      for await (const part of body.pipeThrough(new TextDecoderStream())) {
        text += part
        if (text.includes('page-1')) return text
      }
    })()`)
    await page.waitForFunction('window.isOpen')
    expect(await submit(page, key)).toEqual([200, true, expect.objectContaining({ code: 200 })])
    expect(await position).toContain('event: position')
    expect(await submit(page, 'gps_wrong')).toEqual([
      ...[401, false],
      expect.objectContaining({ error: 'UNAUTHORIZED' }),
    ])
  })

  test('a page of another origin is blocked where CORS_ORIGINS does not list it', async () => {
    const { key } = await suite.made('/keys', { name: 'Blocked' })
    const page = await pageAt(origins[1])
    expect(await submit(page, key)).toBe('blocked')
    const headers = { Authorization: `Bearer ${key}` }
    expect(await fetched(page, `${suite.url}/api/v1/devices`, { headers })).toBe('blocked')
  })

  test('a page of another origin gets neither access by an operator’s cookie, nor a session', async () => {
    const page = await pageAt(origins[0])
    const credentials = 'include'
    expect(await fetched(page, `${suite.url}/api/v1/session`, { credentials })).toBe('blocked')
    const key = { method: 'POST', credentials, body: JSON.stringify({ name: 'Stolen' }) }
    const headers = { 'Content-Type': 'application/json' }
    expect(await fetched(page, `${suite.url}/api/v1/keys`, { ...key, headers })).toBe('blocked')
    const signIn = {
      method: 'POST',
      headers,
      body: JSON.stringify({ email: EMAIL, password: PASSWORD }),
    }
    expect(await fetched(page, `${suite.url}/api/v1/session`, signIn)).toEqual([
      ...[403, false],
      expect.objectContaining({ error: 'FORBIDDEN' }),
    ])
    const { body } = await suite.call('GET', '/keys')
    expect(JSON.stringify(body)).not.toContain('Stolen')
  })
})
