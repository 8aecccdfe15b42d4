import { isDeepStrictEqual } from 'node:util'
import type { Feeds, Feed } from '../../event-log/feeds.ts'
import type { Clock } from '../../runtime/clock.ts'
import { invalidParams, ApiError, unavailable } from '../../runtime/errors.ts'
import type { OutboundNetworks } from '../../runtime/outbound/outbound-url.ts'
import { UnsealingError, type SealedSecrets } from '../../runtime/process/sealed-secrets.ts'
import { newSigningSecret } from '../../schemas/access/random-secrets.ts'
import {
  markHealthy,
  newProgress,
  publicTarget,
  omitWaiting,
  type DeviceSubscription,
  type SubscriptionContent,
  type SubscriptionTarget,
  type SubscriptionSecrets,
} from '../../schemas/subscriptions/subscription.ts'
import { parseIso8601 } from '../../schemas/text/iso-8601.ts'
import {
  listChangedFields,
  updateFieldRevisions,
} from '../../schemas/definitions/changed-fields.ts'
import { operatorAddresses } from '../../store/operators.ts'
import type { Store } from '../../store/store.ts'
import type { AdminRoute } from '../http/admin-route.ts'
import type { Caller } from '../http/caller.ts'
import { changeContent } from '../http/resource-fields.ts'
import { resource, type InAccount } from '../http/resource.ts'
import {
  requireFitting,
  requireStoredSubscription,
  subscriptionFields,
  tooLargeSubscription,
  type ShownSubscription,
} from './subscription-fields.ts'

export type SubscriptionDeps = {
  readonly store: Store
  readonly clock: Clock
  readonly feeds: Feeds
  /** Encrypts secrets; absent if there is no key for it. */
  readonly secrets: SealedSecrets | undefined
  readonly networks: OutboundNetworks
  readonly hasMail: boolean
  /** How long a test may take; by default longer than a receiver's time limit. */
  readonly testWithinMs?: number | undefined
}

export function subscriptionResource({ store, clock, networks }: SubscriptionDeps) {
  return resource({
    kind: 'subscription',
    fields: subscriptionFields(networks),
    find: (query: InAccount): Promise<ShownSubscription | undefined> =>
      store.findSubscription(query),
    reads: { needs: 'viewer', scope: 'devices:read' },
    writes: { needs: 'dispatcher' },
    namesDevices: true,
    bodyLimitBytes: 1024 * 1024,
    store,
    clock,
  })
}

/** Notify programs and people of what happens to devices. */
export function subscriptionRoutes(deps: SubscriptionDeps): AdminRoute[] {
  const { store, clock, feeds } = deps
  const subscriptions = subscriptionResource(deps)

  /** @throws {ApiError} 400 for a mail to anyone but the account's operators. */
  async function requireOwnAddresses(
    { accountId }: Caller,
    target: SubscriptionTarget,
  ): Promise<void> {
    if (target.kind !== 'email') return
    if (!deps.hasMail) {
      const message = 'target.kind email needs a mail server: set SMTP_URL and SMTP_FROM'
      throw invalidParams([{ field: 'target.kind', message }])
    }
    const known = await operatorAddresses(store, accountId)
    if (target.to.every((address) => known.has(address.toLowerCase()))) return
    const message = 'target.to must be addresses of operators of this account'
    throw invalidParams([{ field: 'target.to', message }])
  }

  return [
    subscriptions.list({
      summary: 'Lists notifications, newest first',
      page: (query) => store.pageSubscriptions(query),
    }),
    subscriptions.create({
      summary: 'Creates a notification',
      description: DESCRIPTION,
      bodyExample: {
        name: 'To the office',
        source: 'facts',
        types: ['alarm.reported'],
        hours: { days: [6, 7], from: '00:00', to: '24:00', zone: 'Europe/Berlin' },
        target: { kind: 'webhook', url: 'https://example.org/hook', batch: 100 },
      },
      async make({ body, id, accountId, createdAt }, caller) {
        const { target, start, ...content } = body
        requireFitting({ ...content, target })
        await requireOwnAddresses(caller, target)
        const secrets = requireSecrets(deps)
        const place = { place: start, field: 'start', now: createdAt }
        const mark = await startMarkOf(feeds[content.source], place)
        const secret = newSigningSecret()
        const signing = target.kind === 'webhook' ? [{ secret }] : []
        const subscription: DeviceSubscription = {
          ...content,
          target: publicTarget(target),
          id,
          accountId,
          createdAt,
          changedAt: createdAt,
          revision: 1,
          sealed: seal(secrets, id, { target, signing }),
          progress: newProgress(mark),
        }
        requireStoredSubscription(await store.createSubscription(subscription))
        return target.kind === 'webhook' ? { ...subscription, secret } : subscription
      },
    }),
    subscriptions.show({ summary: 'Returns a notification with its state' }),
    subscriptions.change({
      summary: 'Changes a notification',
      description:
        '`null` removes an optional field. A `target` replaces the previous one and is tried at once.',
      bodyExample: {
        everySeconds: 60,
        hours: { days: [6, 7], from: '00:00', to: '24:00', zone: 'Europe/Berlin' },
      },
      async change({ accountId, id, body, requireSeen }, caller) {
        const { target, ...rest } = body
        if (target !== undefined) await requireOwnAddresses(caller, target)
        const outcome = await store.changeSubscription({ accountId, id }, (before) => {
          requireSeen(before)
          const shown = target === undefined ? before.target : publicTarget(target)
          const content = changeContent<SubscriptionContent>({ ...before, target: shown }, rest)
          requireFitting(content)
          const isOther = target !== undefined && !isTargetOf(before, target, requireSecrets(deps))
          const fields = new Set([
            ...listChangedFields(before, content),
            ...(isOther ? ['target'] : []),
          ])
          if (fields.size === 0 && target === undefined) return before
          const changedAt = Math.max(clock.now(), before.changedAt + 1)
          const next = {
            ...before,
            ...dropGoneDevices(before, content),
            progress: omitWaiting(before.progress),
            ...(fields.size > 0 && {
              revision: before.revision + 1,
              ...updateFieldRevisions(before, [...fields]),
            }),
          }
          return target === undefined
            ? { ...next, changedAt }
            : { ...mergeTarget(next, target, requireSecrets(deps)), changedAt }
        })
        if (outcome === 'refused') throw tooLargeSubscription()
        return outcome
      },
    }),
    subscriptions.remove({
      summary: 'Deletes a notification and its list of deliveries',
      remove: (query) => store.deleteSubscription({ ...query, deletedAt: clock.now() }),
    }),
  ]
}

const DESCRIPTION = `
Sends events, or positions, to a webhook, a phone (ntfy), a chat or operators' mail, in the order of the log, and retries
until they arrive. A webhook is signed as [Standard Webhooks](https://www.standardwebhooks.com) specifies, with the
\`secret\` that only this response and that of \`rotate\` contain. Without \`SECRETS_KEY\` it is a 503.
`.trim()

/** A new target counts as healthy. A webhook retains its secret. */
function mergeTarget(
  subscription: DeviceSubscription,
  target: SubscriptionTarget,
  secrets: SealedSecrets,
): DeviceSubscription {
  const { id, progress } = subscription
  const before = openSecrets(secrets, subscription)
  const kept = before.signing.length > 0 ? before.signing : [{ secret: newSigningSecret() }]
  const signing = target.kind === 'webhook' ? kept : before.signing
  return {
    ...subscription,
    sealed: seal(secrets, id, { target, signing }),
    progress: markHealthy(progress),
  }
}

/**
 * Whether a subscription has this target, with its secrets. Secrets encrypted with another key
 * cannot be compared.
 */
function isTargetOf(
  before: DeviceSubscription,
  target: SubscriptionTarget,
  secrets: SealedSecrets,
): boolean {
  return isDeepStrictEqual(openSecrets(secrets, before).target, target)
}

/** Fields removed by the change are undefined, and so are not stored. */
function dropGoneDevices(before: DeviceSubscription, content: SubscriptionContent): object {
  const gone = Object.keys(before).filter((name) => !Object.hasOwn(content, name))
  return { ...content, ...Object.fromEntries(gone.map((name) => [name, undefined])) }
}

/**
 * The mark for a position that an operator has entered.
 * @throws {ApiError} 400 naming `field`, for anything but `now`, `start`, a mark of this feed and a
 * time.
 */
export async function startMarkOf(
  feed: Pick<Feed<never>, 'markAt' | 'isMark'>,
  { place, field, now }: { readonly place: string; readonly field: string; readonly now: number },
): Promise<string> {
  if (place === 'now') return feed.markAt('end')
  if (place === 'start') return feed.markAt('start')
  if (feed.isMark(place)) return place
  const time = parseIso8601(place)
  if (time !== undefined && time <= now) return feed.markAt(time)
  const message = `${field} must be start, now, a mark of this feed or an ISO 8601 date and time that has passed`
  throw invalidParams([{ field, message }])
}

/** @throws {ApiError} 503 if secrets cannot be encrypted. */
export function requireSecrets({
  secrets,
}: {
  readonly secrets: SealedSecrets | undefined
}): SealedSecrets {
  if (secrets !== undefined) return secrets
  throw unavailable('notifications need a key to encrypt their secrets with: set SECRETS_KEY')
}

export function seal(secrets: SealedSecrets, id: string, content: SubscriptionSecrets): string {
  return secrets.seal(JSON.stringify(content), id)
}

/** @throws {ApiError} 409 if they were encrypted with another key. */
export function openSecrets(
  secrets: SealedSecrets,
  { sealed, id }: Pick<DeviceSubscription, 'sealed' | 'id'>,
): SubscriptionSecrets {
  try {
    return JSON.parse(secrets.open(sealed, id)) as SubscriptionSecrets
  } catch (error) {
    if (!(error instanceof UnsealingError)) throw error
    const message = `${error.message}; or delete the notification and create it again`
    throw new ApiError('CONFLICT', message)
  }
}
