import type { Outage } from '../../runtime/outage.ts'
import { dependencyError, isAway, NoAnswerError } from './driver-errors.ts'

type Methods<M> = { readonly [Name in keyof M]: (...args: never[]) => Promise<unknown> }

/**
 * Wraps the methods for callers: refused until the store is prepared, with the driver's errors
 * converted to the port's, and with a time limit, in case the server does not respond. `unbounded`
 * names those without a limit.
 */
export function guarded<M extends Methods<M>>(
  methods: M,
  {
    checkPrepared,
    withinMs,
    unbounded,
    outage,
  }: {
    checkPrepared: () => unknown
    withinMs: number
    unbounded: ReadonlySet<string>
    /** Learns whether the server answers. */
    outage: Outage
  },
): M {
  const entries = Object.entries(methods) as [string, (...args: unknown[]) => Promise<unknown>][]
  const wrapped = entries.map(([name, method]) => [
    name,
    async (...args: unknown[]) => {
      checkPrepared()
      try {
        const result = unbounded.has(name)
          ? await method(...args)
          : await answered(method(...args), withinMs)
        outage.answered()
        return result
      } catch (thrown) {
        const error = dependencyError(thrown)
        if (isAway(thrown)) outage.failed(error)
        throw outage.own(error)
      }
    },
  ])
  return Object.fromEntries(wrapped) as M
}

/**
 * Awaits the promise for a limited time.
 * @throws {DependencyError} retriable after that; the operation may still succeed.
 */
export async function answered<T>(answer: Promise<T>, withinMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new NoAnswerError(`MongoDB did not answer within ${withinMs} ms`))
    }, withinMs)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
