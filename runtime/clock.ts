/** Returns the current time; passed in so that tests can control it. */
export type Clock = { now(): number }

/** Milliseconds since the epoch, from the system clock. */
export const systemClock: Clock = { now: () => Date.now() }

/** Monotonic milliseconds, for ages and pauses: unlike the system clock it is never adjusted. */
export const steadyClock: Clock = { now: () => performance.now() }

/**
 * The result of a promise; rejects with `late()` after `ms`. The timer does not keep the process
 * alive.
 */
export function awaitFor<T>(ms: number, promise: Promise<T>, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), ms).unref()
    promise.then(
      (result) => {
        clearTimeout(timer)
        resolve(result)
      },
      (error: unknown) => {
        clearTimeout(timer)
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- as it was
        reject(error)
      },
    )
  })
}

/**
 * The result of a promise; rejects with `late()` at `deadline`, on the clock of
 * `performance.now()`.
 */
export function awaitUntil<T>(
  deadline: number,
  promise: Promise<T>,
  late: () => Error,
): Promise<T> {
  return awaitFor(Math.max(0, deadline - performance.now()), promise, late)
}
