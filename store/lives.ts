/**
 * Whether what was written about a device in one life belongs to its current one. Without a current
 * life the device was never erased, or so long ago that nothing from before is left.
 */
export function isSameLife(life: string | undefined, current: string | undefined): boolean {
  return current === undefined || life === current
}
