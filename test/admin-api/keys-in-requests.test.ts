import { expect, test } from '@jest/globals'
import { newApiKey } from '../../schemas/access/api-key.ts'
import { requestsWith, share, textsWith } from '../keys-in-requests.ts'
import { adminForAllTests, type AdminHarness } from './admin-harness.ts'

let harness: AdminHarness
let headers: Record<string, string>
adminForAllTests((given) => ({ harness, headers } = given), { operator: { platform: true } })

test('an API key anywhere in a request is repeated neither in the response nor in the log', async () => {
  const document = (await (await fetch(`${harness.url}/openapi.json`)).json()) as object
  const key = newApiKey()
  const said: string[] = []
  let requests = 0
  const texts = textsWith(key)
  for (const [at, text] of texts.entries()) {
    for (const { method, path, body } of share(requestsWith(text, document), at, texts.length)) {
      const response = await fetch(harness.url + path, {
        method,
        headers: { ...headers, ...(body && { 'Content-Type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      })
      requests += 1
      const isStream = response.headers.get('content-type') === 'text/event-stream'
      if (isStream) await response.body?.cancel()
      else if ((await response.text()).includes(key.slice(4, 16))) said.push(`${method} ${path}`)
      if (path.includes('/session')) headers = await harness.createSession()
    }
  }
  expect(requests).toBeGreaterThan(500)
  expect(said).toEqual([])
  expect(harness.logged.filter((line) => line.includes(key.slice(4, 16)))).toEqual([])
})
