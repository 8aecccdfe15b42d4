/** Yields to the event loop: resolves after the other pending work of this thread has had a turn. */
export { setImmediate as endOfTurn } from 'node:timers/promises'
