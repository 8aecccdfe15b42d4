import type { components } from '../../api/schema.ts'

export type Rejection = components['schemas']['Rejection']

export type ShownRejections = {
  readonly keyId?: string
  readonly deviceId?: string
  readonly error?: Rejection['error']
  /** Times as ISO texts: from inclusive, to exclusive. */
  readonly from?: string
  readonly to?: string
}

/** Enough to see current problems; the list has the rest. */
const MOST = 200

/** Adds a rejection to those that came since the list was read, the latest first, each once. */
export function addRejection(
  newest: readonly Rejection[],
  next: Rejection,
  filter: ShownRejections,
): readonly Rejection[] {
  if (!isWanted(next, filter)) return newest
  const others = newest.filter(({ rejectionId }) => rejectionId !== next.rejectionId)
  return [next, ...others].slice(0, MOST)
}

/** A list, preceded by the rejections that came since it was read. */
export function withNewest(
  newest: readonly Rejection[],
  listed: readonly Rejection[],
): readonly Rejection[] {
  const known = new Set(listed.map(({ rejectionId }) => rejectionId))
  return [...newest.filter(({ rejectionId }) => !known.has(rejectionId)), ...listed]
}

function isWanted(
  rejection: Rejection,
  { keyId, deviceId, error, from, to }: ShownRejections,
): boolean {
  const at = Date.parse(rejection.receivedAt)
  return (
    (from === undefined || at >= Date.parse(from)) &&
    (to === undefined || at < Date.parse(to)) &&
    (keyId === undefined || rejection.keyId === keyId) &&
    (deviceId === undefined || rejection.deviceId === deviceId) &&
    (error === undefined || rejection.error === error)
  )
}
