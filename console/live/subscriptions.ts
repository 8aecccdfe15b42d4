import { signal } from '@preact/signals'
import { allPages, api } from '../api/client.ts'
import type { ApiSubscription } from '../core/notification-words.ts'

/** The maximum number of subscriptions per account. */
const MOST = 50

/** Failing and disabled subscriptions, as last read. */
export const troubled = signal<readonly ApiSubscription[]>([])

/** All subscriptions of the account, newest first. */
export async function readSubscriptions(ending?: AbortSignal): Promise<readonly ApiSubscription[]> {
  const items = await allPages((cursor) =>
    api.get('/subscriptions', {
      query: { limit: MOST, cursor },
      ...(ending && { signal: ending }),
    }),
  )
  troubled.value = items.filter(({ state }) => state === 'failing' || state === 'disabled')
  return items
}
