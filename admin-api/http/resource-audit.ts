import type { Clock } from '../../runtime/clock.ts'
import type { AuditEntry } from '../../store/back-office.ts'
import type { Store } from '../../store/store.ts'
import type { AdminContext } from './admin-route.ts'
import type { Caller } from './caller.ts'
import { recordAction } from './record-action.ts'

/** The word of the audit for a kind of things. */
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
    action: Action,
    { id, ...recorded }: Lives & { readonly id: string; readonly details?: Details },
  ): Promise<void> {
    const entry = { action, subject: { kind, id }, ...recorded }
    return recordAction(ctx, caller, entry, { store, clock })
  }

  return { livesOf, record }
}

/** `rule.changed`: the kind, and what happened to it. */
type Action = `${ResourceKind}.${string}`
type Details = Readonly<Record<string, unknown>>
