import type { Collection, Document } from 'mongodb'
import type { ReadModelCollections } from '../../../store/mongo/collections.ts'

const CALLS = ['findOne', 'insertMany', 'bulkWrite', 'deleteMany', 'updateOne', 'updateMany']

/** The same collections, which let something else happen before each call that reaches the server. */
export function interrupted(
  { applied, positions, deviceStatuses }: ReadModelCollections,
  beforeCall: () => Promise<void>,
): ReadModelCollections {
  return {
    applied,
    positions: interruptedCollection(positions, beforeCall),
    deviceStatuses: interruptedCollection(deviceStatuses, beforeCall),
  }
}

/**
 * Runs a story with an interruption before its first call, then its second, and so on to the last.
 */
export async function everyInterruption(
  run: (interrupt: (work: () => Promise<void>) => () => Promise<void>) => Promise<void>,
): Promise<number> {
  for (let place = 1; ; place += 1) {
    let calls = 0
    await run((work) => async () => {
      calls += 1
      if (calls === place) await work()
    })
    if (calls < place) return calls
  }
}

export function interruptedCollection<T extends Document>(
  collection: Collection<T>,
  beforeCall: () => Promise<void>,
): Collection<T> {
  return new Proxy(collection, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      const method = value.bind(target) as (...args: unknown[]) => unknown
      if (name === 'find') {
        return (...args: unknown[]) => {
          const cursor = method(...args) as { toArray(): Promise<unknown> }
          const toArray = cursor.toArray.bind(cursor)
          cursor.toArray = async () => {
            await beforeCall()
            return toArray()
          }
          return cursor
        }
      }
      if (!CALLS.includes(String(name))) return method
      return async (...args: unknown[]) => {
        await beforeCall()
        return method(...args)
      }
    },
  })
}
