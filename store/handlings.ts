import type { Handling } from '../schemas/facts/handling.ts'

/** The parts of a fact that its handling needs. */
export type HandledFact = {
  readonly id: string
  readonly accountId: string
  readonly deviceId: string
  readonly decidedAt: number
}

/** A handling of a fact; `id` is the fact's. */
export type FactHandling = HandledFact & Handling & { readonly operatorId: string }

/** How operators handle facts. */
export interface Handlings {
  /**
   * Replaces the handling of a fact with `next`, without losing concurrent changes; Returns
   * undefined if nothing changed. `life` is the life of the device, read before the fact: if the
   * device has been erased since, nothing is stored.
   */
  changeHandling(
    fact: HandledFact,
    life: string | undefined,
    next: (before: FactHandling | undefined) => (Handling & { operatorId: string }) | undefined,
  ): Promise<FactHandling | undefined>
  /** Finds handlings by fact id; most facts have none. */
  findHandlings(query: {
    readonly accountId: string
    readonly factIds: readonly string[]
  }): Promise<ReadonlyMap<string, FactHandling>>
  /** Handlings changed at `since` or later, oldest first. */
  changedHandlings(query: {
    readonly accountId: string
    readonly since: number
  }): Promise<readonly FactHandling[]>
  /** Removes the handlings of an erased device's facts. */
  forgetHandlings(device: {
    readonly accountId: string
    readonly deviceId: string
    /** The latest time at which these facts may have been decided. */
    readonly upTo: number
  }): Promise<void>
  /** Removes the handlings of facts decided before. */
  expireHandlings(before: number): Promise<void>
}
