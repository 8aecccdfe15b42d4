import type { components } from '../../api/schema.ts'
import { devicePath, keyPath } from '../../core/address.ts'
import { countText } from '../../core/measures.ts'
import { duration, secondsText } from '../../core/times.ts'
import { scopeWords, type KeyScope } from '../keys/key-words.ts'

type Entry = components['schemas']['AuditEntry']

/** The words for each action of the audit: "ana@example.org … Vans". */
export const ACTIONS: Readonly<Record<string, string>> = {
  'account.created': 'created the account',
  'account.resumed': 'resumed the account',
  'account.suspended': 'suspended the account',
  'device.changed': 'changed the device',
  'device.erased': 'erased the device',
  'devices.labelled': 'labelled the devices',
  'fact.closed': 'closed an alarm of the device',
  'fact.released': 'gave back an alarm of the device',
  'fact.taken': 'took an alarm of the device',
  'geofence.changed': 'changed the geofence',
  'geofence.created': 'created the geofence',
  'geofence.deleted': 'deleted the geofence',
  'geofences.imported': 'imported geofences',
  'import.begun': 'started an import with the key',
  'import.ended': 'ended the import with the key',
  'key.changed': 'changed the key',
  'key.created': 'created the key',
  'key.revoked': 'revoked the key',
  'key.rotated': 'replaced the secret of the key',
  'key.tested': 'sent a test report with the key',
  'operator.changed': 'changed the operator',
  'operator.created': 'created the operator',
  'operator.deleted': 'removed the operator',
  'operator.password-changed': 'changed their password',
  'rule.changed': 'changed the rule',
  'rule.created': 'created the rule',
  'rule.deleted': 'deleted the rule',
  'session.created': 'signed in',
  'share.created': 'created the shared link',
  'share.revoked': 'revoked the shared link',
  'subscription.changed': 'changed the notification',
  'subscription.created': 'created the notification',
  'subscription.deleted': 'deleted the notification',
  'subscription.enabled': 'enabled the notification',
  'subscription.resent': 'resent items to the notification',
  'subscription.rewound': 'moved the start of the notification',
  'subscription.rotated': 'replaced the secret of the notification',
  'subscription.tested': 'sent a test to the notification',
}

const WITHOUT_SUBJECT = ['geofences.imported', 'operator.password-changed', 'session.created']
const ENDS = ['device.erased', 'operator.deleted', 'share.revoked']

/** The devices named in a sentence; the raw entry has the rest. */
const MOST_NAMED = 5

/** An entry in the parts of one sentence: actor, `did`, subjects, `more`. */
export type Sentence = {
  readonly did: string
  /** Empty if `did` is sufficient. */
  readonly subjects: readonly { readonly name: string; readonly path?: string }[]
  /** The number of unnamed subjects. */
  readonly others: number
  /** The settings as text, such as "name “Vans”, no expiry"; may be empty. */
  readonly more: string
}

/**
 * @param names the names of existing keys and operators, by id.
 * @param timeText formats a time for the operator.
 */
export function sentenceOf(
  { action, subject, details }: Entry,
  names: ReadonlyMap<string, string>,
  timeText: (ms: number) => string,
): Sentence {
  if (WITHOUT_SUBJECT.includes(action)) {
    return { did: describeAction(action, subject, {}), subjects: [], others: 0, more: '' }
  }
  const { name, email, ...others } = details ?? {}
  // In a change, the name is the new one.
  const isChange = action.endsWith('.changed')
  const nameThen = isChange ? undefined : (name ?? email)
  const { deviceIds, ...ofMany } = others
  const isOfMany = subject.kind === 'devices'
  const set = isChange ? (details ?? {}) : isOfMany ? ofMany : others
  const path = ENDS.includes(action) ? undefined : pathOf(subject)
  const one = {
    name: typeof nameThen === 'string' ? nameThen : (names.get(subject.id) ?? subject.id),
    ...(path !== undefined && { path }),
  }
  return {
    did: describeAction(action, subject, set),
    ...(isOfMany ? devicesNamed(deviceIds) : { subjects: [one], others: 0 }),
    more: isSwitch(set)
      ? ''
      : Object.entries(set)
          .flatMap(([setting, value]) => settingText(setting, value, timeText) ?? [])
          .join(', '),
  }
}

function devicesNamed(deviceIds: unknown): Pick<Sentence, 'subjects' | 'others'> {
  const ids = Array.isArray(deviceIds) ? deviceIds.map(String) : []
  const subjects = ids.slice(0, MOST_NAMED).map((id) => ({ name: id, path: devicePath(id) }))
  return { subjects, others: ids.length - subjects.length }
}

type Settings = Readonly<Record<string, unknown>>

/** Only enables or disables a device. */
function isSwitch(set: Settings): boolean {
  return Object.keys(set).join() === 'disabled'
}

function describeAction(action: string, { kind }: Entry['subject'], set: Settings): string {
  if (isSwitch(set)) return set['disabled'] === true ? 'disabled the device' : 'enabled the device'
  return ACTIONS[action] ?? `${action} ${kind}`
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
    case 'devices':
    case 'geofence':
    case 'geofences':
    case 'rule':
    case 'subscription':
    case 'account':
    case 'session':
      return undefined
  }
}

/** Formats a setting; the raw entry shows omitted settings. */
function settingText(
  setting: string,
  value: unknown,
  timeText: (ms: number) => string,
): string | undefined {
  const list = Array.isArray(value) ? value.map(String) : undefined
  switch (setting) {
    case 'disabled':
      return value === true ? 'disabled' : 'enabled'
    case 'passwordChanged':
      return 'new password'
    case 'name':
      return typeof value === 'string' ? `name “${value}”` : 'no name'
    case 'role':
      return String(value)
    case 'platform':
      return value === true ? 'platform admin' : undefined
    case 'scopes':
      return scopeWords((list ?? []) as KeyScope[]).toLowerCase()
    case 'deviceIds':
      return list === undefined ? 'all devices' : list.join(', ')
    case 'add':
      return `added ${list?.join(', ') ?? ''}`
    case 'remove':
      return `removed ${list?.join(', ') ?? ''}`
    case 'labels':
      return list === undefined || list.length === 0 ? 'no labels' : `labels ${list.join(', ')}`
    case 'expiresAt':
      return typeof value === 'string' ? `expires ${timeText(Date.parse(value))}` : 'no expiry'
    case 'rateLimit':
      return value === null
        ? 'no separate limit'
        : `${countText(Number(value), 'position')} per minute`
    case 'graceSeconds':
      return value === 0
        ? 'the old one stopped working'
        : `the old one works for ${duration(Number(value) * 1_000)} more`
    case 'expectedIntervalSeconds':
      return value === null
        ? 'no reporting interval'
        : `reports every ${secondsText(Number(value))}`
    default:
      return undefined
  }
}
