/** Resolves once whatever else waits in this thread has had its turn. */
export { setImmediate as endOfTurn } from 'node:timers/promises'
