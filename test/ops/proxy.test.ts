import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { newApiKey } from '../../schemas/access/api-key.ts'

const caddyfile = readFileSync(new URL('../../ops/proxy/Caddyfile', import.meta.url), 'utf8')

test('no part of a key in a URL reaches the proxy’s log', () => {
  const [, pattern = '', masked = ''] = /request>uri regexp "(.+)" "(.+)"/.exec(caddyfile) ?? []
  const mask = (uri: string) => uri.replace(new RegExp(pattern, 'g'), masked)
  const key = newApiKey()
  const encoded = [...key].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('')
  for (const secret of [key, key.replace('_', '%5F'), encoded]) {
    for (const uri of [
      `/api/v1/senders/osmand/${secret}?id=van&lat=1`,
      `/log/osmand/${secret}/van`,
      `/?id=van&key=${secret}`,
      `/api/v1/owntracks/points?api_key=${secret}`,
      `/nowhere/${secret}/`,
    ]) {
      expect(mask(uri)).not.toContain(secret)
      expect(mask(uri)).not.toMatch(/[\w%]{38}/)
    }
  }
  expect(mask('/api/v1/gps/submit')).toBe('/api/v1/gps/submit')
})
