import { jsonSize } from '../runtime/json-size.ts'
import type { DefinitionsState } from '../schemas/definitions/definitions-state.ts'
import type { FactState } from '../schemas/facts/fact-state.ts'
import type { DeviceFact, FactType } from '../schemas/facts/facts.ts'
import type { AppliedEvents, Offsets } from '../schemas/devices/read-models.ts'
import type { ChangesPage, ChangesQuery } from './definitions.ts'
import type { ErasureEntry } from './read-models.ts'

/**
 * The facts of all devices, and the states from which the next facts are decided. They are
 * decisions: neither can be recreated from the log. Written by the projector. Times are
 * milliseconds since the epoch.
 */
export interface FactStore {
  /** The last offset judged, per partition; undefined if judging has not started. */
  factsProgress(): Promise<Offsets | undefined>

  /** The last event judged of each partition, to recognise the log. */
  lastJudged(): Promise<AppliedEvents>

  /** Adds states of devices without facts; existing states remain. */
  seedFacts(seeds: readonly SeededState[]): Promise<void>

  /** Judging starts after these offsets, if it has not started yet. */
  beginFacts(progress: Offsets): Promise<void>

  /**
   * Judges devices by their stored states, and stores states, facts and progress so that in effect
   * each decision is made once. If judging stops early, the result is stored and it is called
   * again. A device whose state or facts can never be written is skipped: its state remains
   * unchanged, and the progress passes its entries.
   * @throws {WentBackError} if they lack entries before the batch.
   */
  judgeFacts(batch: FactsBatch): Promise<JudgedFacts>

  /**
   * Removes a device's facts, and its state except for the erasure. Only the first copy of an
   * erasure has an effect.
   */
  eraseFacts(erasure: ErasureEntry): Promise<void>

  /**
   * A partition's devices that are due at `now` or earlier, earliest first. The first `skip` are
   * omitted.
   */
  dueDevices(query: {
    readonly now: number
    readonly limit: number
    readonly partition: number
    readonly skip?: number
  }): Promise<readonly DueDevice[]>

  /**
   * Facts of an account, newest first by `at`, then sequence, then id. Facts of hidden devices are
   * omitted.
   */
  pageFacts(query: FactsQuery): Promise<readonly DeviceFact[]>

  /** The facts with these ids that belong to no hidden device, in any order. */
  findFacts(query: {
    readonly accountId: string
    readonly ids: readonly string[]
  }): Promise<readonly DeviceFact[]>

  /** Returns the ids of the facts that are stored and belong to no hidden device. */
  heldFacts(query: {
    readonly accountId: string
    readonly facts: readonly Pick<DeviceFact, 'id' | 'deviceId'>[]
  }): Promise<ReadonlySet<string>>

  /** Removes facts decided before this time, and states of devices not seen since. */
  expireFacts(before: number, signal?: AbortSignal): Promise<void>

  /**
   * The settings that judging depends on, in the order of their versions: absent where all have the
   * default.
   */
  watchSettings(query: ChangesQuery): Promise<ChangesPage<WatchSettings>>

  /** Devices of an account that have a state, in the order of their ids. */
  judgedDevices(query: {
    readonly accountId: string
    readonly after?: string
    readonly limit: number
  }): Promise<readonly DueDevice[]>

  /** The standings of these devices of an account for geofences and rules. */
  definitionsStates(query: {
    readonly accountId: string
    readonly deviceIds: readonly string[]
  }): Promise<ReadonlyMap<string, DefinitionsState>>

  /**
   * Devices that are in a geofence, or for which a rule is raised, in the order of their ids, in
   * pages. Hidden devices are omitted.
   */
  devicesWith(query: {
    readonly accountId: string
    readonly definitionId: string
    /** Set for a rule: a change of the rule resets everything raised before. */
    readonly revision?: number
    /** The last device of the previous page. */
    readonly after?: string
    readonly limit: number
  }): Promise<readonly DeviceSince[]>
}

export type SeededState = {
  readonly accountId: string
  readonly deviceId: string
  readonly partition: number
  readonly state: FactState
}

export type DueDevice = Pick<SeededState, 'accountId' | 'deviceId'>

export type WatchSettings = {
  readonly accountId: string
  readonly deviceId: string
  readonly disabled: boolean
  /**
   * When the device was last enabled; absent: it was never disabled, or was enabled by version
   * 0.3.0.
   */
  readonly enabledSince?: number
  readonly expectedIntervalSeconds?: number
  readonly labels?: readonly string[]
  /** When the labels last changed; not the name, or anything else. */
  readonly labelledSince?: number
}

/** Whether anything differs from the default settings. */
export function hasSettings(settings: WatchSettings): boolean {
  const { disabled, enabledSince, expectedIntervalSeconds, labels } = settings
  const differing = enabledSince ?? expectedIntervalSeconds ?? labels
  return disabled || differing !== undefined
}

export type FactsBatch = {
  /** The entries read; absent if only time has passed. */
  readonly read?: EntriesRead
  readonly devices: readonly JudgeDevice[]
  /**
   * Called with durable facts, perhaps repeatedly with the same; they count as published once it
   * has resolved.
   */
  readonly publish?: ((facts: readonly DeviceFact[]) => Promise<void>) | undefined
}

/** Consecutive entries of one partition. */
export type EntriesRead = {
  readonly partition: number
  /** The offset before the first entry; by default it is not checked. */
  readonly after?: number
  readonly lastOffset: number
  readonly lastEvent?: { readonly offset: number; readonly id: string } | undefined
}

export type JudgeDevice = {
  readonly accountId: string
  readonly deviceId: string
  /**
   * Pure; called again if the state has changed in the meantime. Returns undefined if nothing
   * changes.
   */
  readonly judge: (state: FactState | undefined) => JudgedDevice | undefined
}

export type JudgedDevice = {
  readonly state: FactState
  readonly facts: readonly DeviceFact[]
  /**
   * It stopped early, so that memory does not fill with facts: it must be judged again from this
   * state.
   */
  readonly isPartial?: boolean
}

export type JudgedFacts = {
  /** They are durable. */
  readonly facts: readonly DeviceFact[]
  readonly failed: readonly FailedDevice[]
}

/** A device that could not be judged, or whose judging could not be stored. */
export type FailedDevice = DueDevice & { readonly error: unknown }

export type FactsQuery = {
  readonly accountId: string
  /** Only these: exact ids, and prefixes ending in `*`. */
  readonly devices?: readonly string[]
  readonly deviceId?: string
  /** Only these, by exact ids; there may be thousands. */
  readonly deviceIds?: readonly string[]
  readonly type?: FactType
  /** Only facts about this geofence or rule. */
  readonly definitionId?: string
  /** `at`, inclusive. */
  readonly from?: number
  /** Exclusive. */
  readonly to?: number
  readonly limit: number
  /** The last fact of the previous page. */
  readonly after?: Pick<DeviceFact, 'at' | 'sequence' | 'id'>
}

const MOST_REMEMBERED_ERASURES = 8

/**
 * Returns a device's state after this erasure; undefined if the erasure is a copy of an applied
 * one.
 */
export function eraseState(
  state: FactState | undefined,
  { origin: { partition, offset }, event: { eventId, erasedAt } }: ErasureEntry,
): FactState | undefined {
  const ids = state?.erased?.ids ?? []
  if (ids.includes(eventId) || offset <= (state?.applied[partition] ?? -1)) return undefined
  const applied = {
    ...state?.applied,
    [partition]: Math.max(offset, state?.applied[partition] ?? -1),
  }
  return {
    sequence: 0,
    applied,
    due: null,
    erased: { ids: [...ids, eventId].slice(-MOST_REMEMBERED_ERASURES), at: erasedAt, partition },
  }
}

/** When the device last reported, or was erased. */
export function findLastSeen({ liveness, erased }: FactState): number {
  return Math.max(liveness?.seenAt ?? 0, erased?.at ?? 0)
}

/** `since`: null if unknown. */
export type DeviceSince = { readonly deviceId: string; readonly since: number | null }

/**
 * Returns the time since which a device has been in a geofence, or a rule has been raised for it;
 * undefined if it is not.
 */
export function findStandingSince(
  { geofences, rules }: DefinitionsState,
  definitionId: string,
  revision?: number,
): number | null | undefined {
  const standing = geofences.standings[definitionId]
  if (standing?.side === 'inside') return standing.since ?? null
  const raised = rules.standings[definitionId]
  return revision === undefined || raised?.revision === revision ? raised?.raisedAt : undefined
}

/** Approximate size of a state as JSON. Most states are plain and have a constant size. */
export function stateSize(state: FactState): number {
  const { alarms, definitions } = state
  if (alarms !== undefined) return jsonSize(state)
  if (definitions === undefined) return PLAIN_STATE
  const { geofences, rules } = definitions
  if (rules.stop !== undefined) return jsonSize(state)
  for (const id in geofences.standings) if (id !== '') return jsonSize(state)
  for (const id in rules.standings) if (id !== '') return jsonSize(state)
  return PLAIN_STATE
}

const PLAIN_STATE = 600

/** The geofences that the device is in, and the rules that are raised for it. */
export function definitionsHolding({ definitions }: FactState): readonly string[] {
  if (definitions === undefined) return NONE
  let holding: string[] | undefined
  const { geofences, rules } = definitions
  for (const id in geofences.standings) {
    if (geofences.standings[id]?.side === 'inside') (holding ??= []).push(id)
  }
  for (const id in rules.standings) {
    if (rules.standings[id]?.raisedAt !== undefined) (holding ??= []).push(id)
  }
  return holding ?? NONE
}

const NONE: readonly string[] = []
