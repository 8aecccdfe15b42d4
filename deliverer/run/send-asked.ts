import type {
  DeviceSubscription,
  SubscriptionProgress,
} from '../../schemas/subscriptions/subscription.ts'
import type { Item } from '../item.ts'
import { deliveryOutcome, type Requester } from './request.ts'
import type { RunnerParts, SubscriptionKey } from './runner-state.ts'

/** Sends what an operator asks for, without moving the mark: items again, and tests. */
export function askedSender(
  key: SubscriptionKey,
  { items, leases, clock }: Pick<RunnerParts, 'items' | 'leases' | 'clock'>,
  requests: Requester,
) {
  return {
    async sendAgain(subscription: DeviceSubscription): Promise<void> {
      await requests.withTurn(subscription, async (claimed) => {
        const ids = claimed.progress.resend.slice(0, requests.mostItems(claimed))
        const told = await items.byIds(claimed, ids)
        const kept = new Set(told.map(({ item }) => item.id))
        const gone = ids.filter((id) => !kept.has(id))
        if (gone.length > 0) {
          const without = (progress: SubscriptionProgress) => {
            return { ...progress, resend: progress.resend.filter((id) => !gone.includes(id)) }
          }
          if ((await leases.write(key, without, { keep: true })) === undefined) return
        }
        const { mark } = claimed.progress
        if (told.length === 0) return
        await requests.attempt(claimed, { told, markAfter: () => mark, moves: false, keep: true })
      })
    },

    async sendTest(subscription: DeviceSubscription, id: string): Promise<void> {
      await requests.withTurn(subscription, async (claimed) => {
        const now = clock.now()
        const item: Item = { kind: 'test', id, at: now, since: now }
        const { mark } = claimed.progress
        const told = [{ item, deviceName: '' }]
        const sent = await requests.sendKept(claimed, { told, markAfter: () => mark })
        const outcome = deliveryOutcome(sent.answer)
        const write = (progress: SubscriptionProgress): SubscriptionProgress => ({
          ...progress,
          deliveries: progress.deliveries + 1,
          ...(progress.test?.id === id && { test: { id, outcome } }),
        })
        await requests.finish(claimed, {
          write,
          keep: false,
          at: now,
          told,
          attempt: 1,
          outcome,
        })
      })
    },
  }
}
