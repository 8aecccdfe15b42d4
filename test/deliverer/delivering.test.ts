import { beforeEach, describe, expect, test } from '@jest/globals'
import { Webhook } from 'standardwebhooks'
import { newSigningSecret } from '../../schemas/access/random-secrets.ts'
import { eventually } from '../eventually.ts'
import { startDeliveries, startReceiver, type Deliveries } from './harness.ts'

let deliveries: Deliveries
beforeEach(async () => {
  deliveries = await startDeliveries()
})

const SECOND = 1_000
const HOUR = 3_600 * SECOND

describe('a webhook', () => {
  test('gets every fact once, in order, signed according to Standard Webhooks', async () => {
    const receiver = await startReceiver()
    const secret = newSigningSecret()
    const before = await deliveries.appendFacts(3)
    await deliveries.subscribe({ kind: 'webhook', url: receiver.url }, { secret })
    await deliveries.startDeliverer().refresh()
    await eventually(() => receiver.received.length === 3)
    const after = await deliveries.appendFacts(2)
    await eventually(() => receiver.received.length === 5)
    expect(receiver.ids()).toEqual([...before, ...after].map((id) => [id]))
    const [first] = receiver.received
    expect(first!.headers['webhook-id']).toBe(before[0])
    const { 'webhook-timestamp': timestamp } = first!.headers
    expect(Number(timestamp)).toBe(deliveries.clock.time / 1_000)
    // The library rejects old timestamps, and the test's clock is in the past.
    const now = Date.now
    Date.now = () => deliveries.clock.time
    try {
      new Webhook(secret).verify(first!.body, first!.headers as Record<string, string>)
    } finally {
      Date.now = now
    }
    expect(first!.json).toMatchObject({
      type: 'device.online',
      timestamp: new Date(deliveries.clock.time).toISOString(),
      data: { id: before[0], deviceName: 'van-1', text: 'van-1 reported for the first time' },
    })
  })

  test('gets positions in batches, with a mark after the last one', async () => {
    const receiver = await startReceiver()
    const events = await deliveries.appendPositions(7)
    const target = { kind: 'webhook', url: receiver.url, batch: 3 } as const
    const { id } = await deliveries.subscribe(target, { source: 'positions' })
    await deliveries.startDeliverer().refresh()
    const ids = events.map(({ recordId }) => recordId)
    await eventually(() => receiver.ids().flat().length === 7)
    expect(receiver.ids()).toEqual([ids.slice(0, 3), ids.slice(3, 6), ids.slice(6)])
    const [first, , last] = receiver.received
    expect(first!.json.data.items![0]).toMatchObject({
      type: 'position',
      data: { recordId: ids[0], deviceId: 'tracker-1', latitude: 45.273518851 },
    })
    await eventually(async () => {
      const { progress } = await deliveries.find(id)
      return progress.deliveries === 3 && progress.mark === last!.json.data['mark']
    })
  })

  test('that responds 500 for a minute then gets everything in order from the same mark', async () => {
    let isDown = true
    const receiver = await startReceiver(() => (isDown ? 500 : 200))
    const ids = await deliveries.appendFacts(3)
    const { id } = await deliveries.subscribe({ kind: 'webhook', url: receiver.url })
    await deliveries.startDeliverer().refresh()
    for (const [attempt, seconds] of [5, 30, 120].entries()) {
      await eventually(async () => (await deliveries.find(id)).progress.deliveries === attempt + 1)
      await deliveries.idle()
      if (seconds === 120) isDown = false
      await deliveries.pass(seconds * SECOND)
    }
    await eventually(async () => (await deliveries.find(id)).progress.deliveries === 6)
    expect(receiver.ids().flat()).toEqual([ids[0], ids[0], ids[0], ...ids])
    const { progress } = await deliveries.find(id)
    expect(progress).not.toHaveProperty('failingSince')
    expect(progress).not.toHaveProperty('attempt')
    const listed = await deliveries.store.pageDeliveries({ subscriptionId: id, limit: 10 })
    expect(listed.map(({ status, attempt }) => [status, attempt])).toEqual([
      [200, 1],
      [200, 1],
      [200, 4],
      [500, 3],
      [500, 2],
      [500, 1],
    ])
  })

  test('that never responds, or closes halfway, has failed, and operators see the reason', async () => {
    const silent = await startReceiver(() => () => undefined)
    const closing = await startReceiver(() => (response) => response.destroy())
    await deliveries.appendFacts(1)
    const made = []
    for (const { url } of [silent, closing]) {
      made.push(await deliveries.subscribe({ kind: 'webhook', url }))
    }
    await deliveries.startDeliverer({ answersWithinMs: 3_000 }).refresh()
    await deliveries.idle(2)
    const errors = []
    for (const { id } of made) errors.push((await deliveries.find(id)).progress.lastError)
    expect(errors).toEqual([
      'no response within 3 s',
      'the connection was closed before a response',
    ])
  })

  test('that redirects has failed; 410 disables it immediately, and its mark stays', async () => {
    const redirecting = await startReceiver(() => (response) => {
      response.writeHead(302, { location: 'https://www.example.org/hook' }).end()
    })
    const gone = await startReceiver(() => 410)
    await deliveries.appendFacts(1)
    const one = await deliveries.subscribe({ kind: 'webhook', url: redirecting.url })
    const other = await deliveries.subscribe({ kind: 'webhook', url: gone.url })
    await deliveries.startDeliverer().refresh()
    await deliveries.idle(2)
    const lastError =
      'status 302, a redirect to https://www.example.org/…: enter the URL that it leads to'
    expect((await deliveries.find(one.id)).progress).toMatchObject({ lastError })
    const { progress } = await deliveries.find(other.id)
    expect(progress).toMatchObject({ disabledAt: deliveries.clock.time, mark: other.progress.mark })
    await deliveries.pass(48 * HOUR)
    await deliveries.idle(2)
    expect(gone.received).toHaveLength(1)
  })

  test('that rejects one item of a batch gets the others; the item is set aside after three attempts', async () => {
    let bad = ''
    const receiver = await startReceiver(({ body }) => (body.includes(bad) ? 422 : 200))
    const ids = await deliveries.appendFacts(5)
    bad = ids[2]!
    const target = { kind: 'webhook', url: receiver.url, batch: 10 } as const
    const { id } = await deliveries.subscribe(target)
    const deliverer = deliveries.startDeliverer()
    await deliverer.refresh()
    for (const seconds of [5, 30]) {
      await deliveries.idle()
      await deliveries.pass(seconds * SECOND)
    }
    await eventually(async () => (await deliveries.find(id)).progress.setAside.length === 1)
    await eventually(() => receiver.ids().at(-1)?.includes(ids[4]!))
    const accepted = receiver.ids().filter((request) => !request.includes(bad))
    expect(accepted.flat()).toEqual(ids.filter((one) => one !== bad))
    const { progress } = await deliveries.find(id)
    expect(progress.setAside).toEqual([
      { id: bad, at: deliveries.clock.time - 35_000, status: 422 },
    ])
    expect(progress).not.toHaveProperty('failingSince')
    bad = 'none'
    await deliveries.command(id, (before) => ({ ...before, resend: [ids[2]!] }))
    await deliverer.refresh()
    await eventually(async () => (await deliveries.find(id)).progress.setAside.length === 0)
    expect(receiver.ids().at(-1)).toEqual([ids[2]])
  })

  test('that is replaced during a request has no failure: the new receiver is tried immediately', async () => {
    let end = (_status: number) => {}
    const old = await startReceiver(() => new Promise<number>((resolve) => (end = resolve)))
    const receiver = await startReceiver()
    const [fact] = await deliveries.appendFacts(1)
    const { id } = await deliveries.subscribe({ kind: 'webhook', url: old.url })
    await deliveries.startDeliverer().refresh()
    await eventually(() => old.received.length === 1)
    await deliveries.replaceTarget(id, { kind: 'webhook', url: receiver.url })
    end(500)
    await eventually(() => receiver.received.length === 1)
    expect(receiver.ids()).toEqual([[fact]])
    expect(deliveries.attempts.map(({ subscription }) => subscription.progress)).not.toContainEqual(
      expect.objectContaining({ failingSince: expect.anything() }),
    )
  })

  test('gets a resent fact even if a thousand others have the same millisecond', async () => {
    const receiver = await startReceiver()
    const { id } = await deliveries.subscribe({ kind: 'webhook', url: receiver.url, batch: 500 })
    const [first] = await deliveries.appendFacts(1_100)
    await deliveries.command(id, (before) => ({ ...before, resend: [first!] }))
    await deliveries.startDeliverer().refresh()
    await eventually(() => receiver.received.length > 0)
    expect(receiver.ids()[0]).toEqual([first])
  })
  test('gets the items to resend that still exist; the others are removed from the list', async () => {
    const receiver = await startReceiver()
    const target = { kind: 'webhook', url: receiver.url, batch: 2 } as const
    const { id } = await deliveries.subscribe(target)
    const [fact] = await deliveries.appendFacts(1)
    const resend = ['gone', fact!, 'gone-too']
    await deliveries.command(id, (before) => ({ ...before, resend }))
    await deliveries.startDeliverer().refresh()
    await eventually(async () => (await deliveries.find(id)).progress.resend.length === 0)
    await eventually(() => receiver.received.length === 2)
    expect(receiver.ids()).toEqual([[fact], [fact]])
  })
})
