import type { Clock } from '../../runtime/clock.ts'
import { UnsealingError, type SealedSecrets } from '../../runtime/process/sealed-secrets.ts'
import type {
  DeliveryOutcome,
  DeviceSubscription,
  SubscriptionSecrets,
} from '../../schemas/subscriptions/subscription.ts'
import type { SubscriptionStore } from '../../store/subscriptions.ts'
import {
  afterAttempt,
  isSuccess,
  needsTest,
  limitAfter,
  type AttemptMade,
  type AttemptReport,
} from '../after-attempt.ts'
import { deviceIdOf, testItem, type Told } from '../../schemas/subscriptions/item.ts'
import type { SendItems, Sent } from '../send/send-items.ts'
import type { Leases } from './lease.ts'

const MOST_IN_MAIL = 1_000

/** The items of a request, and the changes after its success. */
export type Load = {
  /**
   * `gap`: entries are missing before the items that follow; `again`, `late` and `test` do not move
   * the mark.
   */
  readonly kind: 'next' | 'gap' | 'again' | 'late' | 'test'
  readonly told: readonly Told[]
  /** The mark after the first n items. */
  readonly markAfter: (count: number) => string
  /** Whether to release the lease after a success, because no items follow. */
  readonly end: boolean
  /** For a mail: its only recipients. */
  readonly to?: readonly string[]
}

export type AttemptParts = {
  readonly store: Pick<SubscriptionStore, 'saveDelivery'>
  readonly leases: Leases
  readonly secrets: SealedSecrets
  readonly send: SendItems
  readonly clock: Clock
  readonly random: () => number
  readonly onAttempt: (attempt: AttemptReport) => void
  readonly logger: { warn(fields: object, message: string): void }
}

/** Makes the requests of one subscription, and stores their outcomes. */
export function attempts(parts: AttemptParts) {
  const { leases, clock } = parts
  /** Maximum number of items in a request, after the receiver has found one too large. */
  let most = Infinity
  /** The last decrypted secrets: with many headers they are large. */
  let opened: { readonly sealed: string; readonly secrets: SubscriptionSecrets } | undefined

  /** Sends, and renews the lease in the meantime. */
  async function send(
    claimed: DeviceSubscription,
    { told, markAfter, to }: Load,
    now: number,
  ): Promise<Sent> {
    const secrets = openSecrets(claimed)
    if (secrets instanceof UnsealingError) {
      const answer = { failure: secrets.message, text: '', milliseconds: 0 }
      return { answer, count: told.length }
    }
    const letGo = leases.keep(claimed)
    try {
      return await parts.send({ subscription: claimed, secrets, now, told, markAfter, to })
    } finally {
      letGo()
    }
  }

  async function takesTest(claimed: DeviceSubscription, load: Load): Promise<boolean> {
    const now = clock.now()
    const told = [{ item: testItem('', now), deviceName: '' }]
    const { answer } = await send(claimed, { ...load, told }, now)
    return isSuccess(answer.status)
  }

  /** With a wrong key the subscription fails in the usual way, so operators see why. */
  function openSecrets({ sealed, id }: DeviceSubscription): SubscriptionSecrets | UnsealingError {
    if (opened?.sealed === sealed) return opened.secrets
    try {
      const secrets = JSON.parse(parts.secrets.open(sealed, id)) as SubscriptionSecrets
      opened = { sealed, secrets }
      return secrets
    } catch (error) {
      if (error instanceof UnsealingError) return error
      throw error
    }
  }

  /**
   * Makes a request for a subscription whose lease this process has. Returns it with its new
   * progress; undefined: it was changed in the meantime, or the lease was lost.
   */
  async function attempt(
    claimed: DeviceSubscription,
    load: Load,
  ): Promise<DeviceSubscription | undefined> {
    const { kind, markAfter, end } = load
    const begunAt = clock.now()
    const { answer, count, notice, late } = await send(claimed, load, begunAt)
    const told = load.told.slice(0, count)
    const ids = told.map(({ item }) => item.id)
    const isChat = claimed.target.kind !== 'webhook' && claimed.target.kind !== 'email'
    const { status } = answer
    const isTested = isChat && kind !== 'test' && needsTest(claimed.progress, { status, ids })
    const takesTests = isTested ? await takesTest(claimed, load) : undefined
    const now = clock.now()
    const outcome = outcomeOf(answer)
    const made: AttemptMade = {
      begunAt,
      now,
      random: parts.random(),
      status,
      error: answer.failure,
      retryAfterMs: answer.retryAfterMs,
      ids,
      at: told[0]?.item.at ?? now,
      notice,
      isMail: claimed.target.kind === 'email',
      isChat,
      takesTests,
      late,
      isLate: kind === 'late',
      ...((kind === 'next' || kind === 'gap') && {
        moves: {
          from: claimed.progress.mark,
          to: markAfter(count),
          end: end && count === load.told.length,
          isGap: kind === 'gap',
        },
      }),
      ...(kind === 'test' && { test: outcome }),
    }
    if (kind !== 'test') most = limitAfter(most, made)
    const written = await leases.write(
      claimed,
      (progress, revision) =>
        afterAttempt(progress, { ...made, isReplaced: revision !== claimed.revision }),
      { keep: !end && isSuccess(answer.status) },
    )
    // Another process has the lease, and sends these items again.
    if (written === undefined) return undefined
    const { progress, revision } = written
    const subscription = { ...claimed, progress }
    const { accountId, id: subscriptionId } = claimed
    await parts.store
      .saveDelivery({
        accountId,
        subscriptionId,
        number: progress.deliveries,
        at: begunAt,
        ids,
        deviceIds: outcome.answer === '' ? [] : deviceIdsOf(told),
        attempt: kind === 'test' ? 1 : (countFailures(kind, claimed)?.failures ?? 0) + 1,
        ...outcome,
      })
      .catch((error: unknown) => {
        parts.logger.warn({ err: error, subscriptionId }, 'could not record a delivery')
      })
    parts.onAttempt({
      subscription,
      outcome: isSuccess(answer.status)
        ? 'delivered'
        : progress.failingSince === undefined
          ? 'refused'
          : 'failed',
      before: claimed.progress,
    })
    return revision === claimed.revision ? subscription : undefined
  }

  function maxItems({ target }: DeviceSubscription): number {
    if (target.kind === 'email') return MOST_IN_MAIL
    const batch = target.kind === 'webhook' ? (target.batch ?? 1) : 1
    return Math.max(1, Math.min(batch, most))
  }

  return { attempt, mostItems: maxItems }
}

function countFailures(kind: Load['kind'], { progress }: DeviceSubscription) {
  return kind === 'late' ? progress.late : progress.attempt
}

function deviceIdsOf(told: readonly Told[]): string[] {
  return [...new Set(told.flatMap(({ item }) => deviceIdOf(item) ?? []))]
}

function outcomeOf({ status, failure, milliseconds, text }: Sent['answer']): DeliveryOutcome {
  return {
    ...(status !== undefined && { status }),
    ...(failure !== undefined && { error: failure }),
    milliseconds,
    answer: text,
  }
}
