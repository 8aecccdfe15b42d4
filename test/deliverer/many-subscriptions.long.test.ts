import { expect, test } from '@jest/globals'
import { eventually } from '../eventually.ts'
import { startDeliveries, startReceiver } from './harness.ts'

const SUBSCRIPTIONS_OF_AN_ACCOUNT = 50
const FACTS = 4
const WITHIN_MS = 180_000

/** Delivers facts to all subscriptions of this many accounts; returns the CPU time per delivery. */
async function deliverTo(accounts: number): Promise<{ readonly cpuMs: number }> {
  const deliveries = await startDeliveries()
  const receiver = await startReceiver()
  const { origin } = new URL(receiver.url)
  const names = Array.from({ length: accounts }, (_, n) => `acc-${n}`)
  const places = Array.from({ length: SUBSCRIPTIONS_OF_AN_ACCOUNT }, (_, n) => n)
  for (const accountId of names) {
    for (const n of places) {
      const target = { kind: 'webhook', url: `${origin}/${accountId}/${n}` } as const
      await deliveries.subscribe(target, { accountId })
    }
  }
  const deliverer = deliveries.startDeliverer({ answersWithinMs: WITHIN_MS })
  await deliverer.refresh()
  const before = process.cpuUsage()
  const expected = new Map<string, string[]>()
  for (let fact = 0; fact < FACTS; fact += 1) {
    for (const accountId of names) {
      const ids = await deliveries.appendFacts(1, { accountId, deviceId: `van-${fact}` })
      expected.set(accountId, [...(expected.get(accountId) ?? []), ...ids])
    }
  }
  const total = accounts * SUBSCRIPTIONS_OF_AN_ACCOUNT * FACTS
  await eventually(() => receiver.received.length >= total, { withinMs: WITHIN_MS })
  await deliverer.stop()
  const { user, system } = process.cpuUsage(before)
  const arrived = new Map<string, unknown[]>()
  for (const { path, json } of receiver.received) {
    arrived.set(path, [...(arrived.get(path) ?? []), json.data['id']])
  }
  for (const accountId of names) {
    for (const n of places) {
      expect(arrived.get(`/${accountId}/${n}`)).toEqual(expected.get(accountId))
    }
  }
  return { cpuMs: (user + system) / 1_000 / total }
}

test('1000 subscriptions of 20 accounts get all their facts in order, each at little more cost than with 50 subscriptions', async () => {
  const few = await deliverTo(1)
  const many = await deliverTo(20)
  process.stdout.write(
    `CPU of a delivery: ${few.cpuMs.toFixed(2)} ms among 50, ${many.cpuMs.toFixed(2)} ms among 1000\n`,
  )
  expect(many.cpuMs).toBeLessThan(4 * few.cpuMs)
}, 600_000)
