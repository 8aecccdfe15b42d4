/** The columns that devices can be sorted by; a database has them, so that a page need not look at all devices' settings. */
export const DEVICE_SORTS = ['deviceId', 'lastSeenAt', 'firstSeenAt'] as const

export type DeviceSort = (typeof DEVICE_SORTS)[number]

/** The value of a device in the column it is sorted by; null if that is the deviceId. */
export type SortValue = number | null

export function compareSortValues(a: SortValue, b: SortValue, order: 'asc' | 'desc'): number {
  const compared = (a ?? 0) - (b ?? 0)
  return order === 'asc' ? compared : -compared
}
