import { expect, test } from '@jest/globals'
import { Webhook } from 'standardwebhooks'
import { startReceiver } from '../deliverer/harness.ts'
import { embeddedSuite } from '../embedded-suite.ts'
import { eventually } from '../eventually.ts'
import { ADMIN, report, signIn } from './embedded-calls.ts'

const suite = embeddedSuite()
const ENV = {
  ...ADMIN,
  WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8',
}

test('npm start delivers facts to a webhook and continues after kill -9: none is lost, and a repeat has the same id', async () => {
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
  // At most the request in flight is repeated.
  expect(facts().length).toBeLessThanOrEqual(names.length + 1)
  const webhook = new Webhook(String(made['secret']))
  for (const { body, headers } of receiver.received) {
    webhook.verify(body, headers as Record<string, string>)
  }
})

test('no log line, metric, audit entry or response has a secret of a failing target of any kind', async () => {
  const { url } = await startReceiver(({ path, headers }) => (response) => {
    response.writeHead(500).end(`Cannot POST ${path} ${JSON.stringify(headers)}`)
  })
  const { origin } = new URL(url)
  const service = await suite.start({
    ...ENV,
    LOG_LEVEL: 'trace',
    SMTP_URL: 'smtp://s3cret-user:s3cret-password@127.0.0.1:1',
    SMTP_FROM: 'gps@example.org',
  })
  const ask = await signIn(service)
  const targets = [
    {
      kind: 'webhook',
      url: `${origin}/s3cret-path?key=s3cret-query`,
      headers: { Authorization: 'Bearer s3cret-header' },
    },
    { kind: 'webhook', url: 'http://127.0.0.1:1/s3cret-path' },
    { kind: 'ntfy', url: `${origin}/s3cret-topic`, token: 's3cret-token' },
    { kind: 'slack', url: `${origin}/services/s3cret-slack` },
    { kind: 'email', to: [ADMIN.ADMIN_EMAIL] },
  ]
  const answers: string[] = []
  const { key } = await ask('POST', '/keys', { name: 'trackers' })
  for (const target of targets) {
    const fields = { name: target.kind, source: 'facts', target }
    const { id } = await ask('POST', '/subscriptions', fields)
    const outcome = await ask('POST', `/subscriptions/${String(id)}/test`)
    expect(outcome['status']).not.toBe(204)
    answers.push(JSON.stringify(outcome))
  }
  await report(service, String(key), 'van-1')
  const list = async () => JSON.stringify(await ask('GET', '/subscriptions'))
  await eventually(async () => (await list()).split('"failing"').length === targets.length)
  answers.push(await list(), JSON.stringify(await ask('GET', '/audit?limit=100')))
  const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text()
  expect(metrics).toMatch(/gps_deliveries_total\{[^}]*outcome="failed"[^}]*\} [1-9]/)
  const { items } = (await ask('GET', '/subscriptions')) as { items: { id: string }[] }
  for (const { id } of items) {
    answers.push(JSON.stringify(await ask('GET', `/subscriptions/${id}/deliveries`)))
  }
  expect([...answers, metrics, service.output()].join('\n')).not.toMatch(/s3cret|whsec_/)
})
