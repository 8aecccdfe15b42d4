import { sentence } from '../../core/failure.ts'
import { SCOPE_WORDS, SCOPE_NAMES } from '../keys/key-words.ts'
import type { components } from '../../api/schema.ts'

/** Readable names of the errors. */
export const ERROR_NAMES: Readonly<Record<Rejection['error'], string>> = {
  INVALID_PARAMS: 'Invalid',
  FORBIDDEN: 'Not allowed',
  PAYLOAD_TOO_LARGE: 'Too large',
  RATE_LIMITED: 'Too frequent',
}

/** The remedy for a rejection; its message says what was wrong. */
export function remedyOf({ error, message }: Pick<Rejection, 'error' | 'message'>): string {
  switch (error) {
    case 'INVALID_PARAMS':
      return 'Correct it in the settings of the device or its app.'
    case 'PAYLOAD_TOO_LARGE':
      return 'Send fewer reports at once, or smaller ones.'
    case 'RATE_LIMITED':
      return message.startsWith('this device')
        ? 'Send less often: one report per second is enough.'
        : 'Send less often, or raise the limit of the key.'
    case 'FORBIDDEN':
      return permissionFor(message)
  }
}

function permissionFor(message: string): string {
  if (message.includes('disabled')) return 'Enable the device if it may report again.'
  if (message.includes('deviceId')) {
    return 'Add the device to the devices of the key, or give it another key.'
  }
  const scope = SCOPE_NAMES.find((one) => message.includes(one))
  if (scope !== undefined) return `Use a key with the permission “${SCOPE_WORDS[scope]}”.`
  return 'Ask the people who run the service.'
}

/** The fault in a sentence, without the waiting time, which concerns only the sender. */
export function causeOf({ message }: Pick<Rejection, 'message'>): string {
  return sentence(message.replace(/: send it again in \d+ s$/, ''))
}

/** Rejections with the same cause, device and key. */
export type RejectionGroup = {
  readonly latest: Rejection
  /** The number of reports, and when the first of them arrived. */
  readonly count: number
  readonly firstAt: string
}

/** @param rejections latest first, and so are the groups. */
export function groupRejections(rejections: readonly Rejection[]): readonly RejectionGroup[] {
  const groups = new Map<string, RejectionGroup>()
  for (const one of rejections) {
    const { error, keyId, deviceId, count, receivedAt: firstAt } = one
    const kind = JSON.stringify([error, causeOf(one), keyId, deviceId])
    const { latest = one, count: before = 0 } = groups.get(kind) ?? {}
    groups.set(kind, { latest, count: before + count, firstAt })
  }
  return [...groups.values()]
}

export function countReports(rejections: readonly Rejection[]): number {
  return rejections.reduce((sum, { count }) => sum + count, 0)
}

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

/** Adds a rejection to those that arrived since the list was read, latest first, each once. */
export function addRejection(
  newest: readonly Rejection[],
  next: Rejection,
  filter: ShownRejections,
): readonly Rejection[] {
  if (!isWanted(next, filter)) return newest
  const others = newest.filter(({ rejectionId }) => rejectionId !== next.rejectionId)
  return [next, ...others].slice(0, MOST)
}

/** A list, preceded by the rejections that arrived since it was read. */
export function prependNewest(
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
