import type { FactStore } from '../facts.ts'
import { factWrites } from './judge-facts.ts'
import { factReads } from './read-facts.ts'

export function mongoFacts(
  options: Parameters<typeof factReads>[0] & Parameters<typeof factWrites>[0],
): FactStore {
  return { ...factReads(options), ...factWrites(options) }
}
