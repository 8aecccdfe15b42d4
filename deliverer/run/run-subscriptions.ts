import {
  SUBSCRIPTION_STATES,
  subscriptionState,
  type DeviceSubscription,
} from '../../schemas/subscriptions/subscription.ts'
import type { ChangedDefinition } from '../../store/definitions.ts'
import { ChangesFollower } from '../../store/follow-changes.ts'
import { runSubscription, type Runner, type RunnerParts } from './run-subscription.ts'

type Known = { readonly runner: Runner; readonly changedAt: number }

/** Runs every subscription, those included that are made later. */
export function runSubscriptions(parts: RunnerParts) {
  const { store, clock, stopping } = parts
  const known = new Map<string, Known>()
  const follower = new ChangesFollower<DeviceSubscription>(
    (query) => store.changedSubscriptions(query),
    { clock },
  )

  stopping.addEventListener('abort', () => {
    for (const { runner } of known.values()) runner.notify()
  })

  function take({ id, changedAt, definition }: ChangedDefinition<DeviceSubscription>): void {
    const before = known.get(id)
    if (before?.changedAt === changedAt) return
    if (before !== undefined) {
      known.set(id, { ...before, changedAt })
      before.runner.notify()
    } else if (definition !== undefined && !stopping.aborted) {
      const { accountId } = definition
      const runner = runSubscription({ accountId, id }, parts)
      known.set(id, { runner, changedAt })
      runner.done.then(
        () => known.delete(id),
        () => known.delete(id),
      )
    }
  }

  return {
    /** Looks for subscriptions that were made or changed since the last time. */
    async refresh(): Promise<void> {
      for await (const changes of follower.changes()) for (const change of changes) take(change)
    },

    /** Resolves once every request under way has ended. */
    async ended(): Promise<void> {
      await Promise.all([...known.values()].map(({ runner }) => runner.done))
    },

    /** The number of subscriptions in each state, and how long the oldest item of any has been waiting. */
    figures() {
      const states = new Map(SUBSCRIPTION_STATES.map((state) => [state, 0]))
      let behindMs = 0
      for (const { runner } of known.values()) {
        const { current, waitingSince } = runner
        if (current === undefined) continue
        const suspended = parts.isSuspended(current.accountId)
        const state = subscriptionState(current, { suspended })
        states.set(state, (states.get(state) ?? 0) + 1)
        if (waitingSince !== undefined) behindMs = Math.max(behindMs, clock.now() - waitingSince)
      }
      return { states, behindSeconds: behindMs / 1_000 }
    },
  }
}
