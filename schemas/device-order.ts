import type { LastHeard, Liveness } from './liveness.ts'
import { livenessOf } from './liveness.ts'

/** The columns that devices can be sorted by, and the kind of their values. */
export const DEVICE_SORTS = {
  deviceId: 'text',
  name: 'text',
  status: 'number',
  lastSeenAt: 'number',
  speed: 'number',
  timestamp: 'number',
  battery: 'number',
  labels: 'text',
  reportCount: 'number',
  firstSeenAt: 'number',
} as const satisfies Record<string, 'text' | 'number'>

export type DeviceSort = keyof typeof DEVICE_SORTS

/** The value of a device in the column it is sorted by; null: it has none. */
export type SortValue = string | number | null

/** One language for every process, so that pages fit together. */
const byText = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

/** Devices without a value are last in either direction. */
export function compareSortValues(a: SortValue, b: SortValue, order: 'asc' | 'desc'): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  const compared =
    typeof a === 'number' && typeof b === 'number' ? a - b : byText.compare(String(a), String(b))
  return order === 'asc' ? compared : -compared
}

const STATUS_ORDER: readonly Liveness[] = ['online', 'idle', 'offline']

/** The place of a status among the others: online, idle, offline, then disabled ones. */
export function statusOrder(
  { disabled, ...heard }: LastHeard & { readonly disabled: boolean },
  now: number,
): number {
  return disabled ? STATUS_ORDER.length : STATUS_ORDER.indexOf(livenessOf(heard, now))
}

/** The value of labels in their column. */
export function labelsValue(labels: readonly string[] | undefined): string | null {
  return labels === undefined || labels.length === 0 ? null : labels.join(', ')
}
