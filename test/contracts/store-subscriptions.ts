import { expect } from '@jest/globals'
import { randomUUID } from 'node:crypto'
import {
  MOST_DELIVERIES,
  newProgress,
  type SubscriptionDelivery,
  type DeviceSubscription,
} from '../../schemas/subscriptions/subscription.ts'
import { T0 } from '../samples.ts'
import { ownChanges } from './store-definitions.ts'
import { newAccountId } from './store-samples.ts'
import type { StoreSuite } from './store-suite.ts'

const DAY_MS = 24 * 3_600_000

export function subscriptionsContract({ promise, shared }: StoreSuite): void {
  promise(
    'a subscription is found with its progress, even after a restart, and by no other account',
    async ({ accountId }) => {
      const waiting = { count: 312, more: false, mark: 'later' }
      const given = newSubscription({
        accountId,
        deviceIds: ['tug'],
        types: ['device.offline'],
        progress: { ...newProgress('mark'), failingSince: T0, waiting },
      })
      expect(await shared.store.createSubscription(given)).toBe('stored')
      await shared.reopen()
      const { store } = shared
      expect(await store.findSubscription(given)).toEqual(given)
      expect(await store.pageSubscriptions({ accountId, limit: 9 })).toEqual([given])
      const asOther = { accountId: newAccountId(), id: given.id, deletedAt: T0 }
      expect(await store.findSubscription(asOther)).toBeUndefined()
      expect(await store.changeSubscription(asOther, (one) => one)).toBeUndefined()
      expect(await store.deleteSubscription(asOther)).toBeUndefined()
      expect(await store.pageSubscriptions({ ...asOther, limit: 9 })).toEqual([])
      expect(await store.findSubscription(given)).toEqual(given)
    },
  )

  promise('an account has at most 50 subscriptions', async ({ accountId, store }) => {
    const made = []
    for (let n = 0; n < 52; n += 1) {
      made.push(await store.createSubscription(newSubscription({ accountId, createdAt: T0 + n })))
    }
    expect(made.filter((outcome) => outcome === 'stored')).toHaveLength(50)
    const page = await store.pageSubscriptions({ accountId, limit: 100 })
    expect(page.map(({ createdAt }) => createdAt - T0)).toEqual([...Array(50).keys()].reverse())
    const { id } = page[0]!
    await store.deleteSubscription({ accountId, id, deletedAt: T0 })
    expect(await store.createSubscription(newSubscription({ accountId }))).toBe('stored')
  })

  promise(
    'of several processes that take the lease concurrently, one gets it',
    async ({ accountId, store }) => {
      const given = newSubscription({ accountId })
      await store.createSubscription(given)
      const owners = ['a', 'b', 'c', 'd', 'e']
      const outcomes = await Promise.all(
        owners.map((owner) =>
          store.changeSubscription(given, (one) =>
            one.progress.lease === undefined
              ? { ...one, progress: { ...one.progress, lease: { owner, until: T0 } } }
              : undefined,
          ),
        ),
      )
      const taken = outcomes.filter((outcome) => outcome !== 'refused')
      expect(taken).toHaveLength(1)
      expect(await store.findSubscription(given)).toEqual(taken[0])
    },
  )

  promise(
    'concurrent progress and an operator’s change are both stored',
    async ({ accountId, store }) => {
      const given = newSubscription({ accountId })
      await store.createSubscription(given)
      await Promise.all([
        store.changeSubscription(given, (one) => ({ ...one, name: 'Renamed', changedAt: T0 + 1 })),
        store.changeSubscription(given, (one) => ({
          ...one,
          progress: { ...one.progress, mark: 'later' },
        })),
      ])
      const expected = { name: 'Renamed', changedAt: T0 + 1, progress: { mark: 'later' } }
      expect(await store.findSubscription(given)).toMatchObject(expected)
    },
  )

  promise(
    'processes follow the changes of all subscriptions, including deletions, but not their progress',
    async ({ accountId, store }) => {
      const from = T0 + 1_000_000
      const [kept, deleted] = [1, 2].map((n) =>
        newSubscription({ accountId, createdAt: from + n, changedAt: from + n }),
      ) as [DeviceSubscription, DeviceSubscription]
      await store.createSubscription(kept)
      await store.createSubscription(deleted)
      await store.deleteSubscription({ accountId, id: deleted.id, deletedAt: from + 9 })
      const changes = ownChanges((query) => store.changedSubscriptions(query), [kept, deleted])
      const gone = { id: deleted.id, changedAt: from + 9, version: expect.any(Number) }
      expect(await changes()).toEqual([
        { id: kept.id, changedAt: from + 1, version: expect.any(Number), definition: kept },
        gone,
      ])
      await store.changeSubscription(kept, (one) => ({
        ...one,
        progress: { ...one.progress, mark: 'later' },
      }))
      // The unchanged time tells a follower that nothing has changed.
      for (const { changedAt } of await changes()) expect(changedAt).toBe(from + 1)
      // By a clock that is behind.
      await store.changeSubscription(kept, (one) => ({ ...one, changedAt: T0 - 3_600_000 }))
      expect(await changes()).toMatchObject([{ id: kept.id, changedAt: T0 - 3_600_000 }])
      await store.removeOutdated(from + 10 + DAY_MS)
      const all = ownChanges((query) => store.changedSubscriptions(query), [kept, deleted])
      expect((await all()).map(({ id }) => id)).toEqual([kept.id])
    },
  )

  promise(
    'progress is written without the subscription, and returns its current revision',
    async ({ accountId, store }) => {
      const given = newSubscription({ accountId })
      await store.createSubscription(given)
      const changes = ownChanges((query) => store.changedSubscriptions(query), [given])
      expect(await changes()).toHaveLength(1)
      const later = (mark: string) =>
        store.changeProgress(given, (progress) => ({ ...progress, mark }))
      expect(await later('later')).toEqual({ progress: newProgress('later'), revision: 1 })
      expect(await store.changeProgress(given, () => undefined)).toBe('refused')
      expect(await changes()).toEqual([])
      await store.changeSubscription(given, (one) => ({ ...one, name: 'Renamed', revision: 2 }))
      expect(await later('last')).toEqual({ progress: newProgress('last'), revision: 2 })
      const expected = { ...given, name: 'Renamed', revision: 2, progress: newProgress('last') }
      expect(await store.findSubscription(given)).toEqual(expected)
      const asOther = { accountId: newAccountId(), id: given.id }
      expect(await store.changeProgress(asOther, (one) => one)).toBeUndefined()
      await store.deleteSubscription({ accountId, id: given.id, deletedAt: T0 })
      expect(await later('after it')).toBeUndefined()
    },
  )

  promise(
    'an erased device is removed from the lists of subscriptions',
    async ({ accountId, store }) => {
      const given = newSubscription({ accountId, deviceIds: ['tug', 'ferry'] })
      await store.createSubscription(given)
      const erased = new Map([['tug', T0 + 10]])
      await store.forgetInDefinitions({ accountId, erased, changedAt: T0 + 30 })
      expect(await store.findSubscription(given)).toEqual({ ...given, deviceIds: ['ferry'] })
    },
  )

  promise(
    'deliveries are listed newest first, and removed with their subscription or after 7 days',
    async ({ accountId, store }) => {
      const [one, other] = [newSubscription({ accountId }), newSubscription({ accountId })]
      await store.createSubscription(one)
      const of = ({ id }: DeviceSubscription, number: number) => newDelivery(id, number)
      for (const number of [1, 2, 3]) await store.saveDelivery(of(one, number))
      await store.saveDelivery(of(other, 1))
      const list = (subscription: DeviceSubscription, before?: number) =>
        store.pageDeliveries({
          subscriptionId: subscription.id,
          limit: 2,
          ...(before !== undefined && { before }),
        })
      expect(await list(one)).toEqual([of(one, 3), of(one, 2)])
      expect(await list(one, 2)).toEqual([of(one, 1)])
      await store.deleteSubscription({ accountId, id: one.id, deletedAt: T0 })
      expect(await list(one)).toEqual([])
      expect(await list(other)).toHaveLength(1)
      await store.removeOutdated(T0 + 1 + 7 * DAY_MS)
      expect(await list(other)).toHaveLength(1)
      await store.removeOutdated(T0 + 2 + 7 * DAY_MS)
      expect(await list(other)).toEqual([])
    },
  )

  promise(
    'an account may send 60 mails an hour, and an address gets one sign-in request a day',
    async ({ accountId, store }) => {
      const HOUR_MS = DAY_MS / 24
      const asks = 'bo@example.org'
      const take = (at: number, asked?: string) =>
        store.takeMail({ accountId, at, ...(asked !== undefined && { asks: asked }) })
      expect(await take(T0, asks)).toBe(0)
      expect(await take(T0 + 1, asks)).toBe(DAY_MS - 1)
      for (let n = 1; n < 60; n += 1) expect(await take(T0 + n)).toBe(0)
      expect(await take(T0 + 100)).toBe(HOUR_MS - 100)
      expect(await store.takeMail({ accountId: newAccountId(), at: T0 + 100 })).toBe(0)
      expect(await take(T0 + HOUR_MS)).toBe(0)
      expect(await take(T0 + HOUR_MS)).toBe(1)
      expect(await take(T0 + DAY_MS, asks)).toBe(0)
    },
  )

  promise('each subscription keeps its last 1000 deliveries', async ({ store }) => {
    const subscriptionId = randomUUID()
    for (const number of [1, 2, MOST_DELIVERIES + 1]) {
      await store.saveDelivery(newDelivery(subscriptionId, number))
    }
    // A late delivery displaces no newer one.
    await store.saveDelivery(newDelivery(subscriptionId, 1))
    const page = await store.pageDeliveries({ subscriptionId, limit: 9 })
    expect(page.map(({ number }) => number)).toEqual([MOST_DELIVERIES + 1, 2])
  })
}

export function newSubscription(
  given: Partial<DeviceSubscription> & { readonly accountId: string },
): DeviceSubscription {
  return {
    id: randomUUID(),
    createdAt: T0,
    changedAt: T0,
    revision: 1,
    name: 'To the office',
    source: 'facts',
    everySeconds: 0,
    target: { kind: 'webhook', url: 'https://example.org' },
    sealed: 'v1.x',
    progress: newProgress('mark'),
    ...given,
  }
}

function newDelivery(subscriptionId: string, number: number): SubscriptionDelivery {
  return {
    accountId: 'harbour',
    subscriptionId,
    number,
    at: T0 + number,
    ids: [`item-${number}`],
    attempt: 1,
    status: 200,
    milliseconds: 12,
    answer: 'ok',
  }
}
