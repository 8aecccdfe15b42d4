import { randomBytes } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { smtpMailer } from '../../deliverer/send/mail.ts'
import { sealedSecrets } from '../../runtime/process/sealed-secrets.ts'
import type {
  DeviceSubscription,
  SubscriptionTarget,
} from '../../schemas/subscriptions/subscription.ts'
import { closeAfterwards } from '../closing.ts'
import { eventually } from '../eventually.ts'
import { startDeliveries, startReceiver } from './harness.ts'

/** Without its secrets. */
function shownOf(subscription: DeviceSubscription) {
  return { ...subscription, sealed: '' }
}

const BOT = '12345:s3cret_token_of_a_bot_x'

test("a failing target's secrets appear in no log line, report, delivery or progress, even if its receiver echoes the request", async () => {
  const deliveries = await startDeliveries()
  // Like a framework whose 404 contains the path, and a server that echoes all headers.
  const repeating = await startReceiver(({ path, headers, body }) => (response) => {
    const text = `Cannot POST ${path}; ${JSON.stringify(headers)} ${body}`
    response.writeHead(404).end(`${text}${'x'.repeat(1_018 - text.length)} ${path}`)
  })
  const { origin } = new URL(repeating.url)
  const targets: readonly SubscriptionTarget[] = [
    {
      kind: 'webhook',
      url: `${origin}/s3cret-path/s3cret%20part?key=s3cret&other=s3cret-query`,
      headers: { authorization: 'Bearer s3cret-header', 'x-own': 's3cret-own' },
    },
    { kind: 'ntfy', url: `${origin}/s3cret-topic`, token: 's3cret-token' },
    { kind: 'slack', url: `${origin}/services/T0/s3cret-slack` },
    { kind: 'webhook', url: 'http://127.0.0.1:1/s3cret-path', batch: 2 },
    { kind: 'webhook', url: 'https://10.0.0.1/s3cret-path' },
    { kind: 'telegram', token: BOT, chatId: '-42' },
    { kind: 'email', to: ['ana@example.org'] },
  ]
  await deliveries.addOperators(['ana@example.org'])
  const mailer = smtpMailer({ url: 'smtp://s3cret:s3cret@127.0.0.1:1', from: 'gps@example.org' })
  closeAfterwards(() => mailer.close())
  await deliveries.appendFacts(1)
  const ids: string[] = []
  for (const target of targets) ids.push((await deliveries.subscribe(target)).id)
  const resolveName = async () => [{ address: '127.0.0.1', family: 4 }]
  await deliveries.startDeliverer({ mailer, resolveName }).refresh()
  await deliveries.idle(ids.length)
  await deliveries.pass(60_000)
  await deliveries.idle(ids.length)
  const shown: unknown[] = [deliveries.logged]
  for (const [place, id] of ids.entries()) {
    const found = shownOf(await deliveries.find(id))
    expect(found.progress.failingSince).toBeDefined()
    const listed = await deliveries.store.pageDeliveries({ subscriptionId: id, limit: 9 })
    expect(listed.length).toBeGreaterThan(0)
    if (place < 3) expect(listed[0]!.answer).toContain('Cannot POST …')
    shown.push(found, listed)
  }
  for (const { subscription, ...report } of deliveries.attempts) {
    shown.push(report, shownOf(subscription))
  }
  expect(JSON.stringify(shown)).not.toMatch(/s3c/)
})

test('with the wrong key a subscription fails and names the file to restore; with the right key, everything arrives', async () => {
  const deliveries = await startDeliveries()
  const receiver = await startReceiver()
  const [first] = await deliveries.appendFacts(1)
  const { id } = await deliveries.subscribe({ kind: 'webhook', url: receiver.url })
  const wrong = deliveries.startDeliverer({ key: sealedSecrets(randomBytes(32)) })
  await wrong.refresh()
  await deliveries.idle()
  expect((await deliveries.find(id)).progress.lastError).toBe(
    'the secrets cannot be read with this key: put back the SECRETS_KEY, or the file secrets.key, that encrypted them',
  )
  await wrong.stop()
  await deliveries.startDeliverer().refresh()
  await deliveries.idle()
  await deliveries.pass(5_000)
  await eventually(() => receiver.ids().flat().join() === first)
})
