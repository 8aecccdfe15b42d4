import type { Change } from '../store/read-models.ts'
import { sum } from '../runtime/sum.ts'

/** The number of log entries in a batch's changes, by outcome. */
export function countChanges(changes: readonly Change[]): {
  readonly stored: number
  readonly seen: number
  readonly repeated: number
  readonly erased: number
} {
  return {
    stored: sum(changes.map(({ stored }) => stored.length)),
    seen: sum(changes.map(({ seen }) => seen.length)),
    repeated: sum(changes.map(({ repeated }) => repeated.length)),
    erased: sum(changes.map(({ erased }) => erased.length)),
  }
}
