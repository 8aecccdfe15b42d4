import { randomUUID } from 'node:crypto'
import type { Feeds } from '../event-log/feeds.ts'
import { systemClock as clock } from '../runtime/clock.ts'
import { REPORT_INSTANCE_EVERY_MS, reportInstance } from '../runtime/process/instance.ts'
import type { Program } from '../runtime/process/program.ts'
import { repeatUntilSuccess } from '../runtime/process/repeat.ts'
import type { SealedSecrets } from '../runtime/process/sealed-secrets.ts'
import type { InstanceReport } from '../schemas/instance-report.ts'
import { suspendedAccounts } from '../store/operators.ts'
import type { Store } from '../store/store.ts'
import { leases } from './run/lease.ts'
import { itemReader, type ItemStore } from './run/next-items.ts'
import { httpClient } from './send/http-client.ts'
import { adminWarnings, mailSender, smtpMailer } from './send/mail.ts'
import { itemSender } from './send/send-items.ts'
import { requestSlots } from './turns.ts'
import {
  SUBSCRIPTION_STATES,
  subscriptionState,
  type DeviceSubscription,
} from '../schemas/subscriptions/subscription.ts'
import type { ChangedDefinition } from '../store/definitions.ts'
import { ChangesFollower } from '../store/follow-changes.ts'
import { runSubscription, type Runner, type RunnerParts } from './run/run-subscription.ts'

const LOOKS_EVERY_MS = 1_000
const ACCOUNTS_EVERY_MS = 4_000
const FIGURES_EVERY_MS = 1_000

/**
 * Many subscriptions read at the same time: they wait for a slot to read the past, and for entries
 * at the end of the log.
 */
export const DELIVERER_FEEDS = { readsForMs: 60_000, extentMs: 1_000 }

/** The part of the store that the deliverer uses. */
export type DelivererStore = ItemStore &
  Pick<
    Store,
    | 'changeProgress'
    | 'findSubscription'
    | 'changedSubscriptions'
    | 'saveDelivery'
    | 'takeMail'
    | 'pageAccounts'
    | 'pageOperators'
    | 'saveInstance'
  >

/**
 * Delivers for all subscriptions until the process stops. `owner`: of leases; by default only this
 * run of this process. A process that restarts under the same name takes over its former leases.
 */
export function startDeliverer(
  {
    feeds,
    store,
    secrets,
    owner = randomUUID(),
  }: {
    feeds: Feeds
    store: DelivererStore
    secrets: SealedSecrets
    owner?: string
  },
  { config, logger, metrics, lifecycle }: Program,
): void {
  const { stopping: signal } = lifecycle
  const { smtp, webhooks, consolePublicUrl: consoleUrl } = config
  const mailer = smtp && smtpMailer(smtp)
  const http = httpClient({ networks: webhooks.allowNetworks, proxy: webhooks.proxy })
  lifecycle.onClose('requests of subscriptions', async () => {
    mailer?.close()
    await http.close()
  })
  let suspended: ReadonlySet<string> | undefined
  const sendMail = mailSender({ store, mailer, consoleUrl })
  const warnAdmins = adminWarnings({ store, sendMail: mailer && sendMail, clock, logger })
  const running = runSubscriptions({
    store: store as Store,
    items: itemReader({ feeds, store }),
    leases: leases({ store, owner, now: () => clock.now() }),
    secrets,
    send: itemSender({ http, sendMail, consoleUrl }),
    slots: requestSlots(),
    clock,
    random: Math.random,
    isSuspended: (accountId) => suspended?.has(accountId) === true,
    onAttempt(report) {
      const { kind } = report.subscription.target
      metrics.deliveries.inc({ kind, outcome: report.outcome })
      warnAdmins(report).catch((error: unknown) => {
        logger.warn({ err: error }, 'could not warn the admins')
      })
    },
    logger,
    stopping: signal,
  })
  async function refreshSuspended(): Promise<void> {
    suspended = await suspendedAccounts(store)
  }
  lifecycle.every('looking for suspended accounts', ACCOUNTS_EVERY_MS, () =>
    repeatUntilSuccess(refreshSuspended, {
      logger,
      signal,
      failure: 'could not read the accounts; retrying',
    }),
  )
  lifecycle.every('looking for subscriptions', LOOKS_EVERY_MS, async () => {
    if (suspended !== undefined) await running.refresh()
  })
  lifecycle.onClose('deliveries', () => running.ended())
  lifecycle.every('figures of subscriptions', FIGURES_EVERY_MS, async () => {
    const { states, behindSeconds } = running.figures()
    for (const [state, count] of states) metrics.subscriptions.set({ state }, count)
    metrics.deliveryBehind.set(behindSeconds)
  })
  const save = (report: InstanceReport) => store.saveInstance(report)
  lifecycle.every(
    'instance report',
    REPORT_INSTANCE_EVERY_MS,
    reportInstance({ service: 'deliverer', save, clock }),
  )
}

type Known = { readonly runner: Runner; readonly changedAt: number }

/** Runs every subscription, including ones created later. */
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
    /** Looks for subscriptions created or changed since the last time. */
    async refresh(): Promise<void> {
      for await (const changes of follower.changes()) for (const change of changes) take(change)
    },

    /** Resolves once every request in flight has ended. */
    async ended(): Promise<void> {
      await Promise.all([...known.values()].map(({ runner }) => runner.done))
    },

    /**
     * The number of subscriptions in each state, and how long the oldest item of each state has
     * been waiting.
     */
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
