import type { Handling } from '../schemas/facts/handling.ts'

/** A fact, as far as its handling needs it. */
export type HandledFact = {
  readonly id: string
  readonly accountId: string
  readonly deviceId: string
  readonly decidedAt: number
}

/** A handling beside its fact; `id` is the fact's. */
export type FactHandling = HandledFact & Handling & { readonly operatorId: string }

/** What operators do about facts. */
export interface Handlings {
  /**
   * Replaces the handling of a fact by `next`, without losing concurrent changes; undefined: it stays. `life` is the
   * device's, read before the fact was: if the device has been erased since, nothing is stored.
   */
  changeHandling(
    fact: HandledFact,
    life: string | undefined,
    next: (before: FactHandling | undefined) => (Handling & { operatorId: string }) | undefined,
  ): Promise<FactHandling | undefined>
  /** By the ids of facts; most facts have none. */
  findHandlings(query: {
    readonly accountId: string
    readonly factIds: readonly string[]
  }): Promise<ReadonlyMap<string, FactHandling>>
  /** Those that changed at `since` or later, oldest first. */
  changedHandlings(query: {
    readonly accountId: string
    readonly since: number
  }): Promise<readonly FactHandling[]>
  /** Removes those of an erased device's facts. */
  forgetHandlings(device: {
    readonly accountId: string
    readonly deviceId: string
    /** When the last of these facts may have been decided. */
    readonly upTo: number
  }): Promise<void>
  /** Removes those of facts that were decided before. */
  expireHandlings(before: number): Promise<void>
}
