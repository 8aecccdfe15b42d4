import type { DeviceErased } from '../schemas/events/device-erased.ts'
import type { DeviceFact } from '../schemas/facts/facts.ts'
import type { ErasureEntry, FactEntry, UnreadableEntry } from '../schemas/events/log-entry.ts'
import type { LogBatch, ReadableLog, UnknownEntry } from './event-log.ts'

/**
 * The facts of all devices in the order in which they were decided, with erasures of devices among
 * them. Facts of one device are in one partition. The same fact, with the same id, may be in the
 * log twice.
 */
export type FactLog = ReadableLog<FactLogEntry>
export type FactLogEntry = FactEntry | ErasureEntry | UnreadableEntry | UnknownEntry
export type FactLogBatch = LogBatch<FactLogEntry>

/**
 * A fact log separate from the store in which facts are decided: decided facts must be appended to
 * it.
 */
export interface FactTopic extends FactLog {
  /**
   * Resolves once all facts are durable, in the order given.
   * @throws {DependencyError} as `EventLog.append` does.
   */
  append(facts: readonly DeviceFact[]): Promise<void>

  /**
   * Appends the erasure of a device after its earlier facts. Repeats are allowed; the first copy
   * counts.
   */
  erase(event: DeviceErased): Promise<void>
}
