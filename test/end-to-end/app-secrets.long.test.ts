import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { operatorEnv, signIn } from '../deployments.ts'
import { embeddedSuite } from '../embedded-suite.ts'
import { goldenRequests, requestsOf } from '../ingest-api/apps/golden-requests.ts'

const suite = embeddedSuite()

test('API keys never reach logs or files', async () => {
  const unlimited = { RATE_LIMIT_KEY: 'off', RATE_LIMIT_AUTH: 'off' }
  const running = await suite.start({ ...operatorEnv(), ...unlimited, LOG_LEVEL: 'debug' })
  const { createKey } = await signIn(running.adminUrl)
  const { key } = await createKey()
  const statuses = new Set<number>()
  for (const golden of goldenRequests()) {
    const sent = requestsOf(golden, key).flatMap(({ path, init }) => [
      [path, init] as const,
      ...misplaced(path, init, key),
    ])
    // Concurrently: each may wait for its rejection to be written.
    const answers = sent.map(([path, init]) => fetch(running.ingestUrl + path, init))
    for (const { status } of await Promise.all(answers)) statuses.add(status)
  }
  expect([...statuses]).toEqual(expect.arrayContaining([200, 405]))
  running.process.kill('SIGTERM')
  expect(await running.ended).toBe(0)

  // Nor does the key without its ends: its checksum can be computed.
  const core = key.slice(4, -6)
  expect(running.output()).toContain('"msg":"request answered"')
  expect(running.output()).not.toContain(core)
  const found = promisify(execFile)('grep', ['-r', '-F', '-l', '-a', core, suite.path])
  await expect(found).rejects.toMatchObject({ code: 1 })
})

/** Users' mistakes: the key in wrong places, whole, in part or encoded. */
function misplaced(path: string, init: RequestInit, key: string): [string, RequestInit][] {
  const requests: [string, RequestInit][] = [
    [`${path}${path.includes('?') ? '&' : '?'}note=${key}&lat=${key}&device=x${key}`, init],
    [`${path}/${key}`, init],
    [path, { ...init, method: 'PUT' }],
    [path, { ...init, headers: { ...init.headers, 'X-Limit-U': key, 'X-Request-Id': key } }],
  ]
  const { body } = init
  if (typeof body !== 'string') return requests
  const half = body.slice(0, Math.floor(body.length / 2))
  const bodies = [
    `${half}${key.slice(0, -1)}`,
    `${half}gps%5F${key.slice(4)}&more=${'x'.repeat(100)}`,
    body.replaceAll(NAMES, `$&${key}`),
    body.replaceAll(/[\d.]{4,}/g, `"${key}"`),
  ]
  return [
    ...requests,
    ...bodies.map((other): [string, RequestInit] => [path, { ...init, body: other }]),
  ]
}

const NAMES = /"(?:device_id|tid|dev_eui|devEui|uniqueId|id)":\s*"/g
