import type { components } from '../../api/schema.ts'
import { devicePath, keyPath } from '../../core/address.ts'
import { duration } from '../../core/times.ts'

type Entry = components['schemas']['AuditEntry']

/** The words for each action of the audit: "ana@example.org … Vans". */
export const ACTIONS: Readonly<Record<string, string>> = {
  'account.created': 'created the account',
  'account.resumed': 'resumed the account',
  'account.suspended': 'suspended the account',
  'device.changed': 'changed the device',
  'device.erased': 'erased the device',
  'key.changed': 'changed the key',
  'key.created': 'created the key',
  'key.revoked': 'revoked the key',
  'key.rotated': 'gave a new secret to the key',
  'key.tested': 'sent a test report with the key',
  'operator.changed': 'changed the operator',
  'operator.created': 'added the operator',
  'operator.deleted': 'removed the operator',
  'operator.password-changed': 'changed the password of',
  'session.created': 'signed in',
  'share.created': 'created the shared link',
  'share.revoked': 'revoked the shared link',
}

const SCOPES: Readonly<Record<string, string>> = {
  'positions:write': 'send reports',
  'positions:import': 'import history',
  'positions:read': 'read positions',
  'devices:read': 'read devices',
  admin: 'do everything an admin may',
}

/** An entry in the parts of one sentence: actor, `did`, subject, `more`. */
export type Sentence = {
  readonly did: string
  /** Undefined where `did` says it all. */
  readonly subject?: { readonly name: string; readonly path?: string }
  /** The settings in words, such as "which may send reports"; may be empty. */
  readonly more: string
}

/** `names`: the names of keys and operators that still exist, by id. */
export function sentenceOf(
  { action, subject, details }: Entry,
  names: ReadonlyMap<string, string>,
): Sentence {
  const did = ACTIONS[action] ?? `${action} ${subject.kind}`
  if (action === 'session.created') return { did, more: '' }
  const { name, email, ...set } = details ?? {}
  // The name in a change is the new one.
  const isChange = action.endsWith('.changed')
  const told = isChange ? undefined : (name ?? email)
  const path = pathOf(subject)
  return {
    did,
    subject: {
      name: typeof told === 'string' ? told : (names.get(subject.id) ?? subject.id),
      ...(path !== undefined && { path }),
    },
    more: setWords(isChange ? (details ?? {}) : set),
  }
}

function pathOf({ kind, id }: Entry['subject']): string | undefined {
  switch (kind) {
    case 'device':
      return devicePath(id)
    case 'key':
      return keyPath(id)
    case 'operator':
      return '/operators'
    case 'share':
      return '/shares'
    case 'account':
    case 'session':
      return undefined
  }
}

/** The settings that people look for; the raw entry has the others. */
function setWords(set: Readonly<Record<string, unknown>>): string {
  return Object.entries(set)
    .flatMap(([name, value]) => words(name, value) ?? [])
    .join(', ')
}

function words(name: string, value: unknown): string | undefined {
  if (name === 'disabled')
    return value === true ? 'its reports are rejected' : 'it may report again'
  if (name === 'passwordChanged') return 'with a new password'
  if (name === 'name') return typeof value === 'string' ? `called “${value}”` : 'without a name'
  if (name === 'role') return `as ${String(value)}`
  if (name === 'scopes' && Array.isArray(value)) {
    return `which may ${value.map((one) => SCOPES[String(one)] ?? String(one)).join(', ')}`
  }
  if (name === 'deviceIds')
    return Array.isArray(value) ? `for ${value.join(', ')}` : 'for all devices'
  if (name === 'labels' && Array.isArray(value)) {
    return value.length === 0 ? 'without labels' : `labelled ${value.join(', ')}`
  }
  if (name === 'graceSeconds') return `the old one works for ${duration(Number(value) * 1_000)}`
  if (name === 'expectedIntervalSeconds') {
    return value === null
      ? 'without an expected interval'
      : `expected every ${duration(Number(value) * 1_000)}`
  }
  return undefined
}
