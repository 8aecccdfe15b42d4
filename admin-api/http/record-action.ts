import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Clock } from '../../runtime/clock.ts'
import { ulid } from '../../schemas/events/record-id.ts'
import type { Audit, AuditEntry } from '../../store/back-office.ts'
import { DependencyError } from '../../runtime/errors.ts'
import type { Store } from '../../store/store.ts'
import type { AdminContext } from './admin-route.ts'
import type { Caller } from './caller.ts'

/**
 * Records an action and its actor in the audit. A call that changes something responds only after
 * this, so a confirmed change is always in the audit. `details` is the new values, never a secret;
 * `accountId` is the account of the changed object, by default the caller's own. The audit of
 * another account names the platform as the actor, without the person or address.
 */
export async function recordAction(
  ctx: AdminContext,
  caller: Caller,
  { accountId = caller.accountId, lives, ...action }: Action,
  { store, clock }: { store: Pick<Audit, 'appendAudit'>; clock: Clock },
): Promise<void> {
  const at = clock.now()
  const entry = {
    id: ulid(at, randomBytes(10)),
    accountId,
    at,
    ...(accountId === caller.accountId ? { actor: actorOf(caller), address: ctx.ip } : PLATFORM),
    ...action,
    requestId: ctx.state.requestId,
  }
  await store.appendAudit(entry, lives)
}

type Action = Pick<AuditEntry, 'action' | 'subject' | 'details'> & {
  readonly accountId?: string
  /** The lives of the devices that `details` names, read before the change. */
  readonly lives?: ReadonlyMap<string, string | undefined>
}

const PLATFORM = {
  actor: { kind: 'operator', id: 'platform', name: 'platform' },
  address: 'platform',
} as const

function actorOf(caller: Caller): AuditEntry['actor'] {
  return caller.kind === 'operator'
    ? { kind: 'operator', id: caller.operator.id, name: caller.operator.email }
    : { kind: 'key', id: caller.key.id, name: caller.key.name }
}

const TRY_AGAIN_MS = 1_000

/**
 * Stores entries of changes that were made while the audit could not be written, and writes them as
 * soon as possible: a caller that repeats such a change only learns that it is already done.
 */
export function lateEntries(
  audit: Pick<Audit, 'appendAudit'>,
  { stopping }: { stopping: AbortSignal },
): Pick<Audit, 'appendAudit'> & {
  /** Called before any change. @throws {DependencyError} while the entries cannot be written. */
  write(): Promise<void>
} {
  const late = new Set<Parameters<Audit['appendAudit']>>()
  let trying = false

  async function write(): Promise<void> {
    for (const entry of late) {
      await audit.appendAudit(...entry)
      late.delete(entry)
    }
  }

  /**
   * The caller may repeat the change through another process, so this one must retry on its own.
   */
  async function tryAgain(): Promise<void> {
    if (trying) return
    trying = true
    while (late.size > 0 && !stopping.aborted) {
      await wait(TRY_AGAIN_MS, undefined, { ref: false, signal: stopping }).catch(() => undefined)
      await write().catch(() => undefined)
    }
    trying = false
  }

  return {
    write,
    async appendAudit(entry, lives) {
      try {
        await audit.appendAudit(entry, lives)
      } catch (error) {
        const isLater = error instanceof DependencyError && error.retriable
        // A repeated call completes and records an erasure that is missing from the audit.
        if (isLater && entry.action !== 'device.erased') {
          late.add([entry, lives])
          tryAgain().catch(() => undefined)
        }
        throw error
      }
    },
  }
}

/** The audit's word for a kind of things. */
export type ResourceKind = AuditEntry['subject']['kind']

type Lives = { readonly lives?: ReadonlyMap<string, string | undefined> }

/**
 * The audit of things of one kind. If they name devices in `deviceIds`, erasing a device removes its name from these
 * entries too.
 */
export function resourceAudit(
  kind: ResourceKind,
  {
    namesDevices,
    store,
    clock,
  }: { namesDevices: boolean; store: Pick<Store, 'livesOf' | 'appendAudit'>; clock: Clock },
) {
  /** The lives of the devices that a body names. Read them before the change. */
  async function livesOf(
    { accountId }: Caller,
    body: { readonly [field: string]: unknown },
  ): Promise<Lives> {
    if (!namesDevices) return {}
    const deviceIds = (body['deviceIds'] ?? []) as readonly string[]
    return { lives: await store.livesOf({ accountId, deviceIds }) }
  }

  function record(
    ctx: AdminContext,
    caller: Caller,
    action: ResourceAction,
    { id, ...recorded }: Lives & { readonly id: string; readonly details?: Details },
  ): Promise<void> {
    const entry = { action, subject: { kind, id }, ...recorded }
    return recordAction(ctx, caller, entry, { store, clock })
  }

  return { livesOf, record }
}

/** `rule.changed`: the kind, and the action. */
type ResourceAction = `${ResourceKind}.${string}`
type Details = Readonly<Record<string, unknown>>
