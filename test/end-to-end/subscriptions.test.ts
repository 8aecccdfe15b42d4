import { expect, test } from '@jest/globals'
import { Webhook } from 'standardwebhooks'
import { startReceiver } from '../deliverer/harness.ts'
import { embeddedSuite } from '../embedded-suite.ts'
import { eventually } from '../eventually.ts'
import type { Embedded } from '../programs.ts'

const suite = embeddedSuite()
const ENV = {
  ADMIN_EMAIL: 'ana@example.org',
  ADMIN_PASSWORD: 'correct horse battery staple',
  WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8',
}

type Body = { readonly data: Readonly<Record<string, unknown>> }

async function signIn({ adminUrl }: Embedded) {
  const call = async (method: string, path: string, body?: object, cookie = '') => {
    const response = await fetch(`${adminUrl}/api/v1${path}`, {
      method,
      headers: {
        'X-Requested-With': 'console',
        'Content-Type': 'application/json',
        Cookie: cookie,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${text}`)
    return { response, data: (JSON.parse(text) as Body).data }
  }
  const credentials = { email: ENV.ADMIN_EMAIL, password: ENV.ADMIN_PASSWORD }
  const { response } = await call('POST', '/session', credentials)
  const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? ''
  return async (method: string, path: string, body?: object) =>
    (await call(method, path, body, cookie)).data
}

async function report({ ingestUrl }: Embedded, key: string, deviceId: string): Promise<void> {
  const response = await fetch(`${ingestUrl}/api/v1/gps/submit`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ deviceId, latitude: 52.5, longitude: 13.4 }),
  })
  expect(response.status).toBe(200)
}

test('npm start delivers facts to a webhook, and continues after kill -9: none is lost, and a repeat has the same id', async () => {
  const receiver = await startReceiver()
  let service = await suite.start(ENV)
  const ask = await signIn(service)
  const { key } = await ask('POST', '/keys', { name: 'trackers' })
  const made = await ask('POST', '/subscriptions', {
    name: 'Office',
    source: 'facts',
    target: { kind: 'webhook', url: receiver.url },
  })
  const tested = await ask('POST', `/subscriptions/${String(made['id'])}/test`)
  expect(tested).toMatchObject({ status: 204 })
  const names = Array.from({ length: 20 }, (_, n) => `van-${n}`)
  for (const name of names.slice(0, 10)) await report(service, String(key), name)
  await eventually(() => receiver.received.length > 3)
  service.process.kill('SIGKILL')
  await service.ended
  service = await suite.start(ENV)

  for (const name of names.slice(10)) await report(service, String(key), name)
  const facts = () => receiver.received.filter(({ json }) => json.type === 'device.online')
  const namesOf = () => facts().map(({ json }) => json.data['deviceName'] as string)
  await eventually(() => new Set(namesOf()).size === names.length)
  const idsOf = new Map<string, Set<unknown>>()
  for (const { json } of facts()) {
    const ids = idsOf.get(json.data['deviceName'] as string) ?? new Set()
    idsOf.set(json.data['deviceName'] as string, ids.add(json.data['id']))
  }
  expect([...idsOf.values()].map(({ size }) => size)).toEqual(names.map(() => 1))
  // At most the request that was under way is repeated.
  expect(facts().length).toBeLessThanOrEqual(names.length + 1)
  const webhook = new Webhook(String(made['secret']))
  for (const { body, headers } of receiver.received) {
    webhook.verify(body, headers as Record<string, string>)
  }
})
