import type { DeviceErased } from '../schemas/events/device-erased.ts'
import type { DeviceFact } from '../schemas/facts/facts.ts'
import type { ErasureEntry, FactEntry, UnreadableEntry } from '../schemas/events/log-entry.ts'
import type { LogBatch, ReadableLog, UnknownEntry } from './event-log.ts'

/**
 * The facts of all devices in the order of their decisions, and erasures of devices among them. Facts of
 * one device are in one partition. A fact may be in it twice, with the same id.
 */
export type FactLog = ReadableLog<FactLogEntry>
export type FactLogEntry = FactEntry | ErasureEntry | UnreadableEntry | UnknownEntry
export type FactLogBatch = LogBatch<FactLogEntry>

/** A log of facts beside the store that has decided them: what is decided must be appended. */
export interface FactTopic extends FactLog {
  /**
   * Resolves once all facts are durable, in the order given.
   * @throws {DependencyError} as `EventLog.append` does.
   */
  append(facts: readonly DeviceFact[]): Promise<void>

  /** Appends the erasure of a device after its earlier facts. It may come again; the first copy counts. */
  erase(event: DeviceErased): Promise<void>
}
