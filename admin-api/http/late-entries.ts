import { setTimeout as wait } from 'node:timers/promises'
import { DependencyError } from '../../runtime/errors.ts'
import type { Audit, AuditEntry } from '../../store/back-office.ts'

const TRY_AGAIN_MS = 1_000

/**
 * Keeps entries of changes that were made when the audit could not be written, and writes them once
 * it can be: whoever repeats such a change is answered that it is done already.
 */
export function lateEntries(
  audit: Pick<Audit, 'appendAudit'>,
  { stopping }: { stopping: AbortSignal },
): Pick<Audit, 'appendAudit'> & {
  /** Before anything is changed. @throws {DependencyError} while they cannot be written. */
  write(): Promise<void>
} {
  const late = new Set<AuditEntry>()
  let trying = false

  async function write(): Promise<void> {
    for (const entry of late) {
      await audit.appendAudit(entry)
      late.delete(entry)
    }
  }

  /** Another process may be asked to repeat the change. */
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
    async appendAudit(entry) {
      try {
        await audit.appendAudit(entry)
      } catch (error) {
        const isLater = error instanceof DependencyError && error.retriable
        // An erasure that is not in the audit is completed and recorded by its own repeat.
        if (isLater && entry.action !== 'device.erased') {
          late.add(entry)
          tryAgain().catch(() => undefined)
        }
        throw error
      }
    },
  }
}
