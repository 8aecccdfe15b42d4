const TRIES = 3
const LOOKED_AT_MS = 250

/**
 * Measures until something takes at most `limitMs`, three times at most, and returns the shortest time. What
 * others took of the machine meanwhile is taken off: a time counts as it would be on an idle machine.
 */
export async function quickest(
  limitMs: number,
  measure: (attempt: number) => Promise<number>,
): Promise<number> {
  let shortest = Infinity
  for (let attempt = 0; attempt < TRIES && shortest > limitMs; attempt += 1) {
    const before = busyness()
    const tookMs = await measure(attempt)
    shortest = Math.min(shortest, tookMs / Math.max(before, busyness()))
  }
  return shortest
}

/** The time of a computation divided by the processor time that it got: 1 on an idle machine. */
function busyness(): number {
  const used = process.cpuUsage()
  const begun = performance.now()
  while (performance.now() - begun < LOOKED_AT_MS) continue
  const { user, system } = process.cpuUsage(used)
  return Math.max(1, (performance.now() - begun) / ((user + system) / 1_000))
}
