import { toast } from './announcements.tsx'

/**
 * Announces that a change was saved alongside others' changes, which may not be on the page yet.
 */
export function toastOthers(fields: readonly string[]): void {
  if (fields.length === 0) return
  toast(`Saved. Somebody else has also changed something in the meantime: ${fields.join(', ')}.`)
}
