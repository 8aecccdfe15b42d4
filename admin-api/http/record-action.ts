import { randomBytes } from 'node:crypto'
import type { Clock } from '../../runtime/clock.ts'
import { ulid } from '../../schemas/record-id.ts'
import type { Audit, AuditEntry } from '../../store/back-office.ts'
import type { AdminContext } from './admin-route.ts'
import type { Caller } from './caller.ts'

/**
 * Records an action and its actor in the audit. A call that changes something answers only after
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
