/** Counts event-loop turns until stopped. */
export function countTurns() {
  let turns = 0
  let next = setImmediate(count)
  function count() {
    turns += 1
    next = setImmediate(count)
  }
  return { turns: () => turns, stop: () => clearImmediate(next) }
}
