import { sentence } from '../../core/failure.ts'
import { SCOPE_WORDS, SCOPE_NAMES } from '../keys/key-words.ts'
import type { Rejection } from './merge-rejections.ts'

/** The names of the errors, for people. */
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
  return 'Ask whoever runs the service.'
}

/** The fault in a sentence, without the waiting time, which concerns the sender alone. */
export function causeOf({ message }: Pick<Rejection, 'message'>): string {
  return sentence(message.replace(/: send it again in \d+ s$/, ''))
}

/** Rejections with the same cause, device and key. */
export type Alike = {
  readonly latest: Rejection
  /** How many reports they are, and when the first of them came. */
  readonly count: number
  readonly firstAt: string
}

/** @param rejections the latest first, and so are the groups. */
export function alike(rejections: readonly Rejection[]): readonly Alike[] {
  const groups = new Map<string, Alike>()
  for (const one of rejections) {
    const { error, keyId, deviceId, count, receivedAt: firstAt } = one
    const kind = JSON.stringify([error, causeOf(one), keyId, deviceId])
    const { latest = one, count: before = 0 } = groups.get(kind) ?? {}
    groups.set(kind, { latest, count: before + count, firstAt })
  }
  return [...groups.values()]
}

export function reportsIn(rejections: readonly Rejection[]): number {
  return rejections.reduce((sum, { count }) => sum + count, 0)
}
