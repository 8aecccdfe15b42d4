import { describe, expect, test } from '@jest/globals'
import { ingestForAllTests, type IngestHarness } from '../ingest-harness.ts'
import { rejectionsOf } from '../apps/rejections-of.ts'
import {
  batch,
  bearer,
  devicesOf,
  location,
  OSMAND,
  OVERLAND,
  OWNTRACKS,
  post,
  query,
} from '../apps/app-requests.ts'

let ingest: IngestHarness
ingestForAllTests((given) => ({ ingest } = given))

describe('keys of apps', () => {
  const basic = (user: string, secret: string) => ({
    Authorization: `Basic ${btoa(`${user}:${secret}`)}`,
  })
  test.each<[string, (key: string) => [path: string, headers: Record<string, string>]]>([
    ['from Bearer', (key) => [`${OSMAND}?${query()}`, bearer(key)]],
    ['from the password of Basic', (key) => [`${OSMAND}?${query()}`, basic('jane', key)]],
    ['from Basic without a user', (key) => [`${OSMAND}?${query()}`, basic('', key)]],
    ['from a literal Basic', (key) => [`${OSMAND}?${query()}`, { Authorization: `Basic ${key}:` }]],
    ['from the path', (key) => [`${OSMAND}/${key}?${query()}`, {}]],
    ['from the path of Traccar', (key) => [`/api/v1/senders/traccar/${key}?${query()}`, {}]],
    ['from the query’s key', (key) => [`/?key=${key}&${query()}`, {}]],
    [
      'from the query’s api_key',
      (key) => [`/api/v1/traccar/points?${query(`&api_key=${key}`)}`, {}],
    ],
    ['also percent-encoded', (key) => [`${OSMAND}/${key.replace('_', '%5F')}?${query()}`, {}]],
    [
      'beside a password that is none',
      (key) => [`${OSMAND}/${key}?${query()}`, basic('jane', 'secret')],
    ],
  ])('the key is accepted %s', async (_, given) => {
    const { id, secret } = await ingest.createKey()
    const [path, headers] = given(secret)
    expect((await ingest.request(path, { headers })).status).toBe(200)
    expect(await devicesOf(ingest, id)).toEqual(['van'])
  })

  test.each([
    ['osmand', OSMAND, 401],
    ['overland', OVERLAND, 401],
    ['the root', '/', 401],
    ['owntracks, which throws away what gets a 4xx', OWNTRACKS, 503],
    ['owntracks at its own path', '/pub', 503],
    ['owntracks at the path of Dawarich', '/api/v1/owntracks/points', 503],
  ])('a missing or wrong key is refused: %s', async (_, path, status) => {
    const { id, secret } = await ingest.createKey({ scopes: ['positions:read'] })
    const wrong = `${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}`
    for (const headers of [{}, bearer(wrong), bearer(secret)]) {
      const answer = await post(ingest, path, location(), headers)
      expect(answer.status).toBe(status)
      if (status === 503) expect(answer.headers.get('retry-after')).toMatch(/^[123]$/)
    }
    // It is written in the background: nobody waits for it.
    await ingest.rejected(1)
    const [refused] = await rejectionsOf(ingest, id)
    expect(refused).toMatchObject({
      error: 'FORBIDDEN',
      message: expect.stringContaining('scope') as unknown,
    })
  })

  test('a body without a key is read no further than 16 KiB', async () => {
    const large = await post(ingest, OVERLAND, batch('x'.repeat(20_000)))
    expect(large.headers.get('connection')).toBe('close')
    expect(
      (await post(ingest, OVERLAND, batch('x'.repeat(10_000)))).headers.get('connection'),
    ).toBe('keep-alive')
  })
})
