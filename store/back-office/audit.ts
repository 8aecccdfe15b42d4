import { endOfTurn } from '../../runtime/end-of-turn.ts'
import {
  DEVICES_LABELLED,
  type Audit,
  type AuditEntry,
  type PageOfAudit,
  type AuditQuery,
} from '../back-office.ts'
import type { DocumentStore, Query, Revisioned } from '../documents.ts'
import { isSameLife } from '../erasing-devices.ts'
import type { Erasures } from '../read-models.ts'
import { changeDocument } from './changing.ts'

/** The number of entries read at a time; each may name a thousand devices. */
const READ_AT_ONCE = 100
/** A page ends after this number of entries and of devices named in them. */
const LOOKED_AT_MOST = 20_000

type Index = Pick<Query<AuditEntry>, 'index' | 'where'>

export function auditOf(
  audit: DocumentStore<AuditEntry>,
  { livesOf }: Pick<Erasures, 'livesOf'>,
): Audit {
  return {
    async appendAudit(entry, lives = new Map()) {
      await audit.insert([entry])
      if (lives.size === 0) return
      // `forgetAuditDetails` may have run before this entry was written.
      const current = await livesOf({ accountId: entry.accountId, deviceIds: [...lives.keys()] })
      for (const [deviceId, life] of lives) {
        if (!isSameLife(life, current.get(deviceId))) await forget(entry, deviceId)
      }
    },

    async forgetAuditDetails({ accountId, deviceId, upTo }) {
      const place = { at: upTo + 1, id: '' }
      const query = { accountId, limit: READ_AT_ONCE }
      for await (const entry of entriesOf(subjectIndex(accountId, deviceId), query, place)) {
        if (entry.subject.kind === 'device') await forget(entry, deviceId)
      }
      for (const action of ON_MANY) {
        const index = { index: 'action', where: { accountId, action } }
        for await (const entry of entriesOf(index, query, place)) {
          if (!listDeviceIds(entry).includes(deviceId)) continue
          await forget(entry, deviceId)
          if (entry.subject.kind === 'share') await forgetTitle(entry, deviceId)
        }
      }
    },

    async pageAudit(query): Promise<PageOfAudit> {
      const entries: AuditEntry[] = []
      let looked = 0
      let last: string | undefined
      for await (const entry of readNewestFirst(query)) {
        // Two indexes may contain the same entry.
        if (entry.id === last) continue
        if (last !== undefined && (entries.length === query.limit || looked > LOOKED_AT_MOST)) {
          return { entries, next: last }
        }
        if (isWanted(entry, query)) entries.push(entry)
        looked += 1 + listManyIds(entry).length
        last = entry.id
      }
      return { entries }
    },
  }

  async function forget({ id, details }: AuditEntry, deviceId: string): Promise<void> {
    if (details !== undefined)
      await changeDocument(audit, id, (entry) => removeDevice(entry, deviceId))
  }

  /** The entry for the end of a link repeats its title. */
  async function forgetTitle(created: AuditEntry, deviceId: string): Promise<void> {
    const { accountId, subject } = created
    const query = { accountId, limit: READ_AT_ONCE }
    for await (const entry of entriesOf(subjectIndex(accountId, subject.id), query, undefined)) {
      if (entry.action === 'share.revoked') await forget(entry, deviceId)
    }
  }

  /** The entries of all indexes that may hold wanted ones, merged. */
  async function* readNewestFirst(query: AuditQuery): AsyncGenerator<AuditEntry, void> {
    const place = await placeOf(query)
    if (place === 'none') return
    const merged = await Promise.all(
      indexesFor(query).map(async (index) => {
        const entries = entriesOf(index, query, place)
        return { entries, head: await entries.next() }
      }),
    )
    for (;;) {
      let newest: (typeof merged)[number] | undefined
      for (const one of merged) {
        if (one.head.done === true) continue
        if (newest?.head.value === undefined || isNewer(one.head.value, newest.head.value))
          newest = one
      }
      if (newest?.head.value === undefined) return
      yield newest.head.value
      newest.head = await newest.entries.next()
    }
  }

  async function* entriesOf(
    index: Index,
    { from, limit }: AuditQuery,
    place: Place | undefined,
  ): AsyncGenerator<AuditEntry, void> {
    let size = Math.min(limit + 1, READ_AT_ONCE)
    for (let after = place; ;) {
      const page = await audit.find({
        ...index,
        order: 'desc',
        ...(from !== undefined && { from }),
        ...(after !== undefined && { after }),
        limit: size,
      })
      for (const found of page) yield entryOf(found)
      const last = page.at(-1)
      if (last === undefined || page.length < size) return
      after = { at: last.at, id: last.id }
      // Few of these entries match: the next read fetches more.
      size = Math.min(2 * size, READ_AT_ONCE)
      await endOfTurn()
    }
  }

  /**
   * The position before which a page starts: after the last entry seen, or at the end of the range.
   */
  async function placeOf({ after, to }: AuditQuery): Promise<Place | undefined | 'none'> {
    if (after === undefined) return to === undefined ? undefined : { at: to, id: '' }
    const last = await audit.get(after)
    return last === undefined ? 'none' : { at: last.at, id: last.id }
  }
}

function entryOf({ revision: _revision, ...entry }: Revisioned<AuditEntry>): AuditEntry {
  return entry
}

type Place = Pick<AuditEntry, 'at' | 'id'>

function isNewer(one: Place, other: Place): boolean {
  return one.at > other.at || (one.at === other.at && one.id > other.id)
}

/**
 * The indexes that contain the entries of a query. Entries on several devices have one index entry,
 * not one for each device: the account's are searched for a device.
 */
function indexesFor({ accountId, subjectId, operatorId, action }: AuditQuery): Index[] {
  if (subjectId !== undefined) {
    const subject = subjectIndex(accountId, subjectId)
    const ofMany = { index: 'action', where: { accountId, action: DEVICES_LABELLED } }
    return (action ?? DEVICES_LABELLED) === DEVICES_LABELLED ? [subject, ofMany] : [subject]
  }
  if (operatorId !== undefined) {
    return [{ index: 'actor', where: { accountId, 'actor.id': operatorId } }]
  }
  if (action !== undefined) return [{ index: 'action', where: { accountId, action } }]
  return [{ index: 'time', where: { accountId } }]
}

function subjectIndex(accountId: string, id: string): Index {
  return { index: 'subject', where: { accountId, 'subject.id': id } }
}

function isWanted(entry: AuditEntry, { action, operatorId, subjectId }: AuditQuery): boolean {
  const { actor, subject } = entry
  return (
    (action === undefined || entry.action === action) &&
    (operatorId === undefined || (actor.kind === 'operator' && actor.id === operatorId)) &&
    (subjectId === undefined || subject.id === subjectId || listManyIds(entry).includes(subjectId))
  )
}

/** The devices of an entry on several devices. */
function listManyIds(entry: AuditEntry): readonly string[] {
  return entry.subject.kind === 'devices' ? listDeviceIds(entry) : []
}

/** The actions on several devices, whose details name the devices. */
const ON_MANY = [
  DEVICES_LABELLED,
  'share.created',
  'geofence.created',
  'geofence.changed',
  'rule.created',
  'rule.changed',
] as const

/** The devices named in the details of an entry on several devices. */
function listDeviceIds({ details }: Pick<AuditEntry, 'details'>): readonly string[] {
  const deviceIds = details?.['deviceIds']
  return Array.isArray(deviceIds) ? (deviceIds as readonly string[]) : []
}

/**
 * The entry without details of an erased device. Details of other devices, such as their labels,
 * remain; the title of a link is removed, because it may name any of its devices.
 */
function removeDevice<Entry extends AuditEntry>(entry: Entry, deviceId: string): Entry {
  const { details, ...bare } = entry
  const left = listDeviceIds(entry).filter((id) => id !== deviceId)
  if (details === undefined || left.length === 0) return bare as Entry
  const untitled = Object.entries(details).filter(([field]) => field !== 'name')
  return { ...entry, details: { ...Object.fromEntries(untitled), deviceIds: left } }
}
