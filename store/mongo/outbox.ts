import { isDeepStrictEqual } from 'node:util'
import type { DeviceFact } from '../../schemas/facts/facts.ts'

/** No JSON begins like this: version 0.3.0, which must not take such a fact for a whole one, fails and tries again. */
const LIKE_THE_ONE_BEFORE = '+'

/**
 * The facts of an outbox as texts. One input may cause hundreds of facts: what they have in common, its position and
 * the geofences that the device is in, is only in the first of them.
 */
export function writeOutbox(facts: readonly DeviceFact[]): string[] {
  return facts.map((fact, index) => {
    const before = facts[index - 1]
    if (before === undefined || !hasSameSurroundings(fact, before)) return JSON.stringify(fact)
    return LIKE_THE_ONE_BEFORE + JSON.stringify({ ...fact, position: undefined, inside: undefined })
  })
}

/** Outboxes of version 0.3.0 hold whole facts. */
export function readOutbox(texts: readonly string[]): DeviceFact[] {
  const facts: DeviceFact[] = []
  for (const text of texts) {
    const before = facts.at(-1)
    if (!text.startsWith(LIKE_THE_ONE_BEFORE)) facts.push(JSON.parse(text) as DeviceFact)
    else if (before !== undefined) {
      const { position, inside } = before
      const own = JSON.parse(text.slice(LIKE_THE_ONE_BEFORE.length)) as DeviceFact
      facts.push({ ...own, ...(position !== undefined && { position }), inside })
    }
  }
  return facts
}

function hasSameSurroundings(fact: DeviceFact, before: DeviceFact): boolean {
  if (fact.inside.length !== before.inside.length) return false
  if (fact.position?.recordId !== before.position?.recordId) return false
  return (
    fact.inside.every((id, index) => before.inside[index] === id) &&
    (fact.position === before.position || isDeepStrictEqual(fact.position, before.position))
  )
}
