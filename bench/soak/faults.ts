import type { FactView } from '../../test/admin-reader.ts'

/** Lists what was lost, doubled or refused, one line each. */
export function findFaults({
  acknowledged,
  refused,
  stored,
  facts,
  received,
}: {
  readonly acknowledged: number
  readonly refused: number
  readonly stored: number
  readonly facts: readonly FactView[]
  readonly received: ReadonlySet<string>
}): string[] {
  const faults: string[] = []
  if (refused > 0) faults.push(`${refused} requests were refused`)
  if (stored !== acknowledged) faults.push(`${acknowledged} acknowledged, but ${stored} stored`)
  const sequences = new Map<string, number[]>()
  const ids = new Set<string>()
  for (const { id, deviceId, sequence } of facts) {
    ids.add(id)
    const own = sequences.get(deviceId) ?? []
    sequences.set(deviceId, own)
    own.push(sequence)
  }
  if (ids.size < facts.length) faults.push(`${facts.length - ids.size} facts share an id`)
  const gaps = [...sequences].filter(([, own]) => {
    own.sort((a, b) => a - b)
    return own.some((sequence, n) => sequence !== n + 1)
  })
  if (gaps.length > 0) faults.push(`${gaps.length} devices with gaps, as ${gaps[0]?.[0]}`)
  const missing = [...ids].filter((id) => !received.has(id))
  if (missing.length > 0) faults.push(`${missing.length} facts not received, as ${missing[0]}`)
  return faults
}
