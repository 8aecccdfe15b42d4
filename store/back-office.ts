import type { InstanceReport } from '../schemas/instance-report.ts'

// Other operators' data and the services' reports: shares, audit, instances. None of this comes
// from the log.

/** The last item of the previous page, which may have been deleted since. */
export type PlaceByAge = { readonly id: string; readonly createdAt: number }

export type DefinitionsPage = {
  readonly accountId: string
  readonly limit: number
  readonly after?: PlaceByAge
  /**
   * Ends the page early, after the definition that brings it to this size: only an empty page is
   * the end.
   */
  readonly mostBytes?: number
}

/** A link that shows the positions of some devices to anyone who has its token. */
export type Share = {
  readonly id: string
  readonly accountId: string
  /** Without a name, the share is named after its devices. */
  readonly name?: string
  readonly devices: readonly SharedDevice[]
  readonly trailMinutes: number
  /** Whether it shows the positions that its devices had when it was created. */
  readonly showsNow?: boolean
  /** Whether its page may load maps from a third party. */
  readonly showsStreets?: boolean
  readonly createdAt: number
  readonly expiresAt: number
}

export type SharedDevice = {
  readonly deviceId: string
  /** Identifies the device to viewers. */
  readonly ref: string
  /** The device's name in the share, instead of its usual name. */
  readonly name?: string
  /** The recordId of the last position known when the share was created, if it shows that. */
  readonly lastKnown?: string
  /** The life in which the device was shared: it leaves the share once it is erased. */
  readonly life?: string
}

export interface Shares {
  /**
   * `tokenHash`: SHA-256 of the token, which never reaches the store. False, and no share is
   * created, if one of its devices has been erased since its life was read.
   */
  createShare(share: Share, tokenHash: Uint8Array): Promise<boolean>
  /** Newest first; expired ones are listed for another week. */
  pageShares(query: DefinitionsPage): Promise<Share[]>
  /** Also finds expired shares; the caller must check. */
  findShare(
    tokenHash: Uint8Array,
  ): Promise<{ readonly share: Share; readonly accountSuspended: boolean } | undefined>
  /** Returns the deleted share. */
  deleteShare(query: { accountId: string; shareId: string }): Promise<Share | undefined>
  /**
   * Removes an erased device, with its name, from its account's shares that were created up to
   * `sharedUpTo` or in an earlier life; they no longer show it.
   */
  unshareDevice(device: {
    readonly accountId: string
    readonly deviceId: string
    readonly sharedUpTo: number
  }): Promise<void>
}

/** The changes made by operators and keys. Append-only, except for details of erased devices. */
export interface Audit {
  /**
   * Removes details about a device, such as its name and labels, from entries up to a time, and the
   * device from entries on several devices. The operator, the action and the time remain.
   */
  forgetAuditDetails(device: { accountId: string; deviceId: string; upTo: number }): Promise<void>
  /**
   * `lives`: the lives, before the change, of the devices in the details. Details of a device
   * erased since are not stored.
   */
  appendAudit(entry: AuditEntry, lives?: ReadonlyMap<string, string | undefined>): Promise<void>
  /**
   * Newest first. `from` inclusive, `to` exclusive. A query for a device also finds entries about
   * several devices.
   */
  pageAudit(query: AuditQuery): Promise<PageOfAudit>
}

/**
 * A page may have fewer than `limit` entries although more follow: if few of many entries match, or
 * entries name thousands of devices. `next`: the `after` of the next page; absent on the last page.
 */
export type PageOfAudit = { readonly entries: readonly AuditEntry[]; readonly next?: string }

export type AuditQuery = {
  readonly accountId: string
  /** The operator who made the change. */
  readonly operatorId?: string | undefined
  readonly action?: string | undefined
  readonly subjectId?: string | undefined
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly limit: number
  readonly after?: string | undefined
}

export type AuditEntry = {
  /** A ULID with the entry's time. */
  readonly id: string
  /** The account of the changed object. */
  readonly accountId: string
  readonly at: number
  readonly actor: {
    readonly kind: 'operator' | 'key'
    readonly id: string
    /** The operator's e-mail or the key's name, as it was then. */
    readonly name: string
  }
  /** The action in the past tense, `key.created`. */
  readonly action: string
  readonly subject: { readonly kind: AuditSubject; readonly id: string }
  /**
   * The new values, field by field; never a secret. For several devices also their ids, as
   * `deviceIds`.
   */
  readonly details?: Readonly<Record<string, unknown>>
  /** The client's address. */
  readonly address: string
  readonly requestId: string
}

/** `devices`, `geofences`: several of the account with the subject's id. */
export const AUDIT_SUBJECTS = [
  'key',
  'device',
  'devices',
  'operator',
  'account',
  'session',
  'share',
  'geofence',
  'geofences',
  'rule',
  'subscription',
] as const
/** The only action on several devices. */
export const DEVICES_LABELLED = 'devices.labelled'

export type AuditSubject = (typeof AUDIT_SUBJECTS)[number]

/** The store's data with a limited lifetime. */
export interface Outdated {
  /**
   * Removes ended sessions, shares a week after they expired, reports of instances that ended, and
   * refused reports older than 7 days. The projector calls it every hour, because new data that
   * would replace them may never come.
   */
  removeOutdated(now: number): Promise<void>
}

/** Running services: each service of each process, as reported by itself. */
export interface Instances {
  saveInstance(report: InstanceReport): Promise<void>
  /** Instances that have reported since then; their reports are stored for an hour. */
  instances(query: { reportedSince: number }): Promise<InstanceReport[]>
  /**
   * The number of spools last reported as not empty, at `reportedSince` or later; their instances
   * may have ended.
   */
  waitingSpools(query: { reportedSince: number }): Promise<number>
  /**
   * The last report of each minute from `since` on, of instances with figures; stored for a day.
   */
  instanceMinutes(query: { since: number }): Promise<InstanceMinute[]>
}

export type InstanceMinute = Pick<
  InstanceReport,
  'acceptedPerMinute' | 'refusedPerMinute' | 'lag' | 'deadLetters'
> & {
  /** The start of the minute. */
  readonly start: number
}
