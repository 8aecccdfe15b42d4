import { setTimeout as wait } from 'node:timers/promises'
import { DependencyError } from '../../runtime/errors.ts'
import type { Audit } from '../../store/back-office.ts'

const TRY_AGAIN_MS = 1_000

/**
 * Keeps entries of changes that were made while the audit could not be written, and writes them as
 * soon as it can be: a caller that repeats such a change only learns that it is already done.
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

  /** The caller may repeat the change at another process, so this one must retry without it. */
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
