import type { FactView } from '../../test/admin-reader.ts'

/** Lists what was lost or doubled, one line each. */
export function findLosses({
  acknowledged,
  stored,
  facts,
  received,
}: {
  readonly acknowledged: number
  readonly stored: number
  readonly facts: readonly FactView[]
  readonly received: ReadonlySet<string>
}): string[] {
  const sequences = new Map<string, number[]>()
  for (const { deviceId, sequence } of facts) {
    const own = sequences.get(deviceId) ?? []
    sequences.set(deviceId, own)
    own.push(sequence)
  }
  const [gap, ...gaps] = [...sequences].flatMap(([deviceId, own]) => {
    own.sort((a, b) => a - b)
    return own.every((sequence, n) => sequence === n + 1) ? [] : deviceId
  })
  const ids = new Set(facts.map(({ id }) => id))
  const [missing, ...others] = [...ids].filter((id) => !received.has(id))
  return [
    ...(stored === acknowledged ? [] : [`${acknowledged} acknowledged, but ${stored} stored`]),
    ...(ids.size === facts.length ? [] : [`${facts.length - ids.size} facts share an id`]),
    ...(gap === undefined ? [] : [`${gaps.length + 1} devices with gaps, as ${gap}`]),
    ...(missing === undefined ? [] : [`${others.length + 1} facts not received, as ${missing}`]),
  ]
}
