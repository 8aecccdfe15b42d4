import { DEVICES_LABELLED, type AuditEntry } from '../back-office.ts'

/** The actions on several devices, which their details name. */
export const ON_MANY = [DEVICES_LABELLED, 'share.created'] as const

/** The devices that the details of an entry on several name. */
export function devicesIn({ details }: Pick<AuditEntry, 'details'>): readonly string[] {
  const deviceIds = details?.['deviceIds']
  return Array.isArray(deviceIds) ? (deviceIds as readonly string[]) : []
}

/**
 * The entry without what it says of an erased device. The others of an entry on several keep theirs, such
 * as their labels; the title of a link goes, because it may name any of its devices.
 */
export function withoutDevice<Entry extends AuditEntry>(entry: Entry, deviceId: string): Entry {
  const { details, ...bare } = entry
  const left = devicesIn(entry).filter((id) => id !== deviceId)
  if (details === undefined || left.length === 0) return bare as Entry
  const untitled = Object.entries(details).filter(([field]) => field !== 'name')
  return { ...entry, details: { ...Object.fromEntries(untitled), deviceIds: left } }
}
