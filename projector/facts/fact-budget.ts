import type { FactBudget } from '../../schemas/facts/fact-state.ts'

/** 600 facts an hour. */
const FACT_EVERY_MS = 6_000
const LARGEST_BURST = 1_200

/**
 * Takes one fact from a device's budget at a time by the clock of receipt, never by that of this process: whoever judges
 * the same entries keeps the same facts. Returns undefined where nothing is left.
 */
export function spend(budget: FactBudget | undefined, at: number): FactBudget | undefined {
  const fullAt = Math.max(budget?.fullAt ?? at, at) + FACT_EVERY_MS
  return fullAt - at > LARGEST_BURST * FACT_EVERY_MS ? undefined : { fullAt }
}

/** The budget after a fact that there was nothing left for. */
export function overspent({ fullAt, suppressed = 0 }: FactBudget): FactBudget {
  return { fullAt, suppressed: suppressed + 1 }
}
