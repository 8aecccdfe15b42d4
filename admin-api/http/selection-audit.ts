import type { Clock } from '../../runtime/clock.ts'
import type { Store } from '../../store/store.ts'
import type { AdminContext } from './admin-route.ts'
import type { Caller } from './caller.ts'
import { recordAction } from './record-action.ts'

type Lives = ReadonlyMap<string, string | undefined>

/** The audit of what applies to chosen devices. Erasing a device removes its name from these entries too. */
export function selectionAudit(
  kind: 'geofence' | 'rule' | 'subscription',
  deps: { store: Pick<Store, 'livesOf' | 'appendAudit'>; clock: Clock },
) {
  /** The lives of the devices that a change names. Read them before the change. */
  function livesOf(
    { accountId }: Caller,
    { deviceIds }: { readonly deviceIds?: readonly string[] | null },
  ): Promise<Lives> {
    return deps.store.livesOf({ accountId, deviceIds: deviceIds ?? [] })
  }

  function record(
    ctx: AdminContext,
    caller: Caller,
    action: string,
    { id, details, lives = new Map() }: { id: string; details: object; lives?: Lives },
  ): Promise<void> {
    const entry = { action, subject: { kind, id }, details: { ...details }, lives }
    return recordAction(ctx, caller, entry, deps)
  }

  return { livesOf, record }
}
