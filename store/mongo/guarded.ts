import { DependencyError } from '../../runtime/errors.ts'
import { dependencyError } from './driver-errors.ts'

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
  }: { checkPrepared: () => unknown; withinMs: number; unbounded: ReadonlySet<string> },
): M {
  const entries = Object.entries(methods) as [string, (...args: unknown[]) => Promise<unknown>][]
  const wrapped = entries.map(([name, method]) => [
    name,
    async (...args: unknown[]) => {
      checkPrepared()
      try {
        return await (unbounded.has(name) ? method(...args) : answered(method(...args), withinMs))
      } catch (error) {
        throw dependencyError(error)
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
      const message = `MongoDB did not answer within ${withinMs} ms`
      reject(new DependencyError(message, { retriable: true }))
    }, withinMs)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
