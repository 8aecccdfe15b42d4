import type { DeviceRule, RuleContent } from '../schemas/definitions/device-rule.ts'
import type { Geofence, GeofenceContent } from '../schemas/definitions/geofence.ts'
import type { DefinitionsPage, PlaceByAge } from './back-office.ts'

/** The progress of finding the devices inside an account's new and changed geofences. */
export type Adoption = {
  readonly accountId: string
  /** Adoption is finished for geofences that came into force up to this time. */
  readonly upTo: number
  /** Set while searching for devices in the geofences that came into force from `from` to `to`. */
  readonly running?: AdoptionRun
}

export type AdoptionRun = {
  readonly from: number
  readonly to: number
  readonly done: number
  readonly total: number
}

export interface AdoptionStore {
  /** Reads the progress of adoption; undefined if not yet started. */
  adoption(accountId: string): Promise<Adoption | undefined>
  /** `upTo` never decreases. */
  saveAdoption(adoption: Adoption): Promise<void>
}

type InAccount = { readonly accountId: string; readonly id: string }

/** A change of a definition; `next` is called again after a concurrent change, and may throw. */
export type DefinitionChange<Definition, Content> = InAccount & {
  readonly changedAt: number
  readonly next: (before: Definition) => Content
}

/** The account's definitions would exceed `MOST_DEFINITION_BYTES` together. */
export type TooLarge = 'too large'

/** The reason why a geofence is not stored. */
export type GeofenceRefused =
  'external id taken' | 'too many geofences' | 'too many vertices' | TooLarge

/** The reason why a rule is not stored. */
export type RuleRefused = 'too many rules' | TooLarge | { readonly unknownGeofence: string }

/** The geofences and rules that operators define. Other accounts never see them. */
export interface DefinitionStore extends AdoptionStore {
  /**
   * Creates or rejects each geofence. `revision`, `changedAt` and `inForceSince` are those of a new
   * definition.
   */
  createGeofences(
    geofences: readonly NewGeofence[],
  ): Promise<readonly (Geofence | GeofenceRefused)[]>
  /** Newest first. */
  pageGeofences(query: DefinitionsPage): Promise<Geofence[]>
  /** Returns a page of geofences without their shapes. */
  pageGeofenceNames(query: DefinitionsPage): Promise<NamedDefinition[]>
  /**
   * Returns the version of the account's last change, so that callers can detect changes; 0 if no
   * change is known.
   */
  newestGeofenceVersion(accountId: string): Promise<number>
  findGeofence(query: InAccount): Promise<Geofence | undefined>
  findGeofenceByExternalId(query: {
    readonly accountId: string
    readonly externalId: string
  }): Promise<Geofence | undefined>
  changeGeofence(
    change: DefinitionChange<Geofence, GeofenceContent>,
  ): Promise<Geofence | GeofenceRefused | undefined>
  /** Returns the deleted geofence, or the rule that names it and so prevents the deletion. */
  deleteGeofence(
    query: InAccount & { readonly deletedAt: number },
  ): Promise<{ readonly deleted: Geofence } | { readonly namedBy: DeviceRule } | undefined>

  createRule(rule: NewRule): Promise<DeviceRule | RuleRefused>
  /** Newest first. */
  pageRules(query: DefinitionsPage): Promise<DeviceRule[]>
  findRule(query: InAccount): Promise<DeviceRule | undefined>
  changeRule(
    change: DefinitionChange<DeviceRule, RuleContent>,
  ): Promise<DeviceRule | RuleRefused | undefined>
  deleteRule(query: InAccount & { readonly deletedAt: number }): Promise<DeviceRule | undefined>

  /**
   * Removes erased devices from the lists of definitions that nobody has changed since the erasure.
   * Each definition that names one is written: there may be thousands.
   */
  forgetInDefinitions(devices: ErasedDevices): Promise<void>

  /** Definitions of all accounts in the order of their versions; see `ChangesFollower`. */
  changedGeofences(query: ChangesQuery): Promise<ChangesPage<Geofence>>
  changedRules(query: ChangesQuery): Promise<ChangesPage<DeviceRule>>
}

/** Devices of an account, with the times of their erasures. */
export type ErasedDevices = {
  readonly accountId: string
  readonly erased: ReadonlyMap<string, number>
  readonly changedAt: number
}

export type NewGeofence = GeofenceContent & InAccount & { readonly createdAt: number }
export type NewRule = RuleContent & InAccount & { readonly createdAt: number }

export type NamedDefinition = PlaceByAge & { readonly name: string; readonly version: number }

export type ChangesQuery = {
  /** The version after which to continue; 0 to start with the first. */
  readonly after: number
  /** Only the versions of known definitions are read. */
  readonly isKnown: (id: string, version: number) => boolean
}

export type ChangesPage<Definition> = {
  /** The unknown definitions; at most 1 MiB plus the last of them. */
  readonly changes: readonly ChangedDefinition<Definition>[]
  /** The last version read. */
  readonly last: number
  readonly isEnd: boolean
}

export type ChangedDefinition<Definition> = {
  readonly id: string
  readonly changedAt: number
  /** Increases with every change in the store, including changes by an erasure. */
  readonly version: number
  /** Absent if the definition was deleted. Deletions are remembered for a day. */
  readonly definition?: Definition
}
