import { UnsealingError } from '../../runtime/process/sealed-secrets.ts'
import type {
  DeliveryOutcome,
  DeviceSubscription,
  SubscriptionProgress,
  SubscriptionSecrets,
} from '../../schemas/subscriptions/subscription.ts'
import { afterAttempt, isSuccess, isTooMuch } from '../after-attempt.ts'
import { deviceIdOf } from '../item.ts'
import type { Told } from '../render/told.ts'
import type { Sent } from '../send/send-items.ts'
import { mailedIn } from './mail-pace.ts'
import type { RunnerParts, RunnerState, SubscriptionKey } from './runner-state.ts'

const MOST_IN_MAIL = 1_000

type Sending = {
  readonly told: readonly Told[]
  readonly markAfter: (count: number) => string
}

type Attempt = Sending & {
  /** Whether a success moves the mark. */
  readonly moves: boolean
  /** Whether nothing follows these items. */
  readonly end?: boolean
  /** Whether to keep the lease after a success, because more follows. */
  readonly keep: boolean
  readonly gapToldAt?: string
}

/** Makes the requests of one subscription, and writes what became of them. */
export function requester(key: SubscriptionKey, parts: RunnerParts, state: RunnerState) {
  const { store, leases, clock, stopping } = parts
  /** The most items in a request, after a receiver has found one too large. */
  let most = Infinity
  /** The secrets that were opened last: with many headers they are large. */
  let opened: { readonly sealed: string; readonly secrets: SubscriptionSecrets } | undefined

  /** Takes a slot and the lease, and gives the lease back unless the work has done so. */
  async function withTurn(
    subscription: DeviceSubscription,
    work: (claimed: DeviceSubscription) => Promise<void>,
  ): Promise<void> {
    const isFailing = subscription.progress.failingSince !== undefined
    const end = await parts.slots.take({ accountId: key.accountId, isFailing })
    try {
      if (stopping.aborted) return
      const claimed = await leases.take(subscription, () => parts.isSuspended(key.accountId))
      state.isStale = true
      if (claimed === undefined) return
      state.current = claimed
      await work(claimed)
    } finally {
      end()
    }
  }

  async function attempt(claimed: DeviceSubscription, given: Attempt): Promise<void> {
    const { told, markAfter, moves, end = false, keep, gapToldAt } = given
    const begunAt = clock.now()
    const { answer, count, notice } = await sendKept(claimed, { told, markAfter })
    const ids = told.slice(0, count).map(({ item }) => item.id)
    const { status, failure: error, retryAfterMs } = answer
    const now = clock.now()
    const isDone = isSuccess(status)
    most = isTooMuch({ status, ids }) ? Math.floor(count / 2) : isDone ? most * 2 : most
    const made = {
      begunAt,
      now,
      random: parts.random(),
      status,
      error,
      retryAfterMs,
      ids,
      at: told[0]?.item.at ?? now,
      ...(moves && {
        moves: {
          from: claimed.progress.mark,
          to: markAfter(count),
          end: end && count === told.length,
        },
      }),
    }
    const write = (progress: SubscriptionProgress, isSame: boolean): SubscriptionProgress => {
      // The failure of a target that has been replaced is not the new one's.
      if (!isSame && !isDone) return { ...progress, deliveries: progress.deliveries + 1 }
      const next = withoutNotice(afterAttempt(progress, made))
      return {
        ...next,
        ...(notice !== undefined && { notice }),
        ...(isDone && gapToldAt !== undefined && { gapToldAt }),
        ...(claimed.target.kind === 'email' && isDone && { mailedAt: mailedIn(progress, now) }),
      }
    }
    await finish(claimed, {
      write,
      at: begunAt,
      told: told.slice(0, count),
      attempt: (claimed.progress.attempt?.failures ?? 0) + 1,
      keep: keep && isDone,
      outcome: deliveryOutcome(answer),
    })
  }

  /** Sends, and keeps the lease meanwhile. */
  async function sendKept(claimed: DeviceSubscription, sending: Sending): Promise<Sent> {
    const secrets = openedSecrets(claimed)
    if (secrets instanceof UnsealingError) {
      const answer = { failure: secrets.message, text: '', milliseconds: 0 }
      return { answer, count: sending.told.length }
    }
    const letGo = leases.keep(key)
    try {
      return await parts.send({ subscription: claimed, secrets, now: clock.now(), ...sending })
    } finally {
      letGo()
    }
  }

  /** Under another key the subscription fails like any other, so that operators see why. */
  function openedSecrets({ sealed, id }: DeviceSubscription): SubscriptionSecrets | UnsealingError {
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

  /** Writes what became of a request. If the lease was lost meanwhile, its items are sent again. */
  async function finish(
    claimed: DeviceSubscription,
    {
      write,
      keep,
      at,
      told,
      attempt,
      outcome,
    }: {
      readonly write: (progress: SubscriptionProgress, isSame: boolean) => SubscriptionProgress
      readonly keep: boolean
      readonly at: number
      readonly told: readonly Told[]
      readonly attempt: number
      readonly outcome: DeliveryOutcome
    },
  ): Promise<void> {
    const written = await leases.write(
      key,
      (progress, revision) => write(progress, revision === claimed.revision),
      { keep },
    )
    if (written === undefined) return
    const { progress, revision } = written
    const subscription = { ...claimed, progress }
    state.current = subscription
    state.isStale = revision !== claimed.revision
    const { accountId, id: subscriptionId } = key
    const number = progress.deliveries
    const ids = told.map(({ item }) => item.id)
    const named = outcome.answer === '' ? [] : told.flatMap(({ item }) => deviceIdOf(item) ?? [])
    const deviceIds = [...new Set(named)]
    await store
      .saveDelivery({ accountId, subscriptionId, number, at, ids, deviceIds, attempt, ...outcome })
      .catch((error: unknown) => {
        parts.logger.warn({ err: error, subscriptionId }, 'a delivery could not be listed')
      })
    const isDone = isSuccess(outcome.status)
    const isFailure = progress.failingSince !== undefined
    parts.onAttempt({
      subscription,
      outcome: isDone ? 'delivered' : isFailure ? 'failed' : 'refused',
      before: claimed.progress,
    })
  }

  return {
    withTurn,
    attempt,
    sendKept,
    finish,

    mostItems({ target }: DeviceSubscription): number {
      if (target.kind === 'email') return MOST_IN_MAIL
      const batch = target.kind === 'webhook' ? (target.batch ?? 1) : 1
      return Math.max(1, Math.min(batch, most))
    },
  }
}

function withoutNotice({
  notice: _notice,
  ...progress
}: SubscriptionProgress): SubscriptionProgress {
  return progress
}

export type Requester = ReturnType<typeof requester>

export function deliveryOutcome({
  status,
  failure,
  milliseconds,
  text,
}: Sent['answer']): DeliveryOutcome {
  return {
    ...(status !== undefined && { status }),
    ...(failure !== undefined && { error: failure }),
    milliseconds,
    answer: text,
  }
}
