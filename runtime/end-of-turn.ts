import { setImmediate as endOfTurn } from 'node:timers/promises'

/** The longest time that a piece of work may block other work of its thread. */
const TURN_MS = 10
/**
 * The limit for large requests: small ones must get their responses within milliseconds meanwhile.
 */
const PIECE_MS = 1
/** A piece of work for one caller, of which there may be many. */
const OWN_MS = 5
/** The number of items between two checks of the clock, which also take time. */
const ASKED_EVERY = 32

/** Yields to the event loop: resolves after other pending work of this thread has run. */
export { endOfTurn }

/**
 * Returns a function that yields to the event loop if this thread has worked for 10 ms since the
 * last yield.
 */
export function turnTaker(): () => Promise<void> {
  let began = performance.now()
  return async () => {
    if (performance.now() - began < TURN_MS) return
    await endOfTurn()
    began = performance.now()
  }
}

type Due = { call: (() => void) | undefined }
let due: Due[] = []
/** Waiting work by party; the first party gets the next turn and then moves to the end. */
const waiting = new Map<string, (() => void)[]>()

/**
 * Calls a function at the end of this event-loop turn, before any work that waits in `yieldFairly`.
 * Returns a function that cancels the call.
 */
export function callAtEndOfTurn(call: () => void): () => void {
  const one: Due = { call }
  due.push(one)
  const immediate = setImmediate(callDue)
  return () => {
    one.call = undefined
    clearImmediate(immediate)
  }
}

function callDue(): void {
  const all = due
  due = []
  for (const one of all) {
    const { call } = one
    one.call = undefined
    call?.()
  }
}

/**
 * Yields like `endOfTurn`, but each turn runs only one of the waiting pieces of work, and parties
 * take turns: new work waits for one piece of each party, not for all.
 */
export function yieldFairly(party = ''): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.size === 0) setImmediate(beginNext)
    const line = waiting.get(party)
    if (line === undefined) waiting.set(party, [resolve])
    else line.push(resolve)
  })
}

/**
 * Returns a function that yields in the same way if the work has taken a few milliseconds since the
 * last yield.
 */
export function createFairYielder(party: string): () => Promise<void> {
  let began = performance.now()
  return async () => {
    if (performance.now() - began < OWN_MS) return
    await yieldFairly(party)
    began = performance.now()
  }
}

function beginNext(): void {
  callDue()
  const [next] = waiting
  if (next === undefined) return
  const [party, line] = next
  waiting.delete(party)
  const proceed = line.shift()
  if (line.length > 0) waiting.set(party, line)
  proceed?.()
  if (waiting.size > 0) setImmediate(beginNext)
}

/** Maps a list in 1 ms slices, one per event-loop turn. */
export async function mapInTurns<T, R>(
  list: readonly T[],
  map: (one: T, index: number) => R,
): Promise<R[]> {
  const mapped: R[] = []
  await yieldFairly()
  let began = performance.now()
  for (const [index, one] of list.entries()) {
    mapped.push(map(one, index))
    if (index % ASKED_EVERY !== ASKED_EVERY - 1 || performance.now() - began < PIECE_MS) continue
    await yieldFairly()
    began = performance.now()
  }
  return mapped
}
