import { setImmediate as endOfTurn } from 'node:timers/promises'

/** The longest that a piece of work may block the others of its thread. */
const TURN_MS = 10
/** The number of items between two looks at the clock, which cost something too. */
const ASKED_EVERY = 32

/** Yields to the event loop: resolves after other pending work of this thread has had a turn. */
export { endOfTurn }

/** Returns a function that yields to the event loop if this thread has worked for 10 ms since the last time. */
export function turnTaker(): () => Promise<void> {
  let began = performance.now()
  return async () => {
    if (performance.now() - began < TURN_MS) return
    await endOfTurn()
    began = performance.now()
  }
}

/** Maps a list, and yields to the event loop every 10 ms. */
export async function mapInTurns<T, R>(
  list: readonly T[],
  map: (one: T, index: number) => R,
): Promise<R[]> {
  const mapped: R[] = []
  let began = performance.now()
  for (const [index, one] of list.entries()) {
    mapped.push(map(one, index))
    if (index % ASKED_EVERY !== ASKED_EVERY - 1 || performance.now() - began < TURN_MS) continue
    await endOfTurn()
    began = performance.now()
  }
  return mapped
}
