import { setTimeout as pause } from 'node:timers/promises'
import { DependencyError } from '../../runtime/errors.ts'
import type { Document, Documents, Found } from '../documents.ts'

const MOST_ATTEMPTS = 20
const LONGEST_PAUSE_MS = 50

/**
 * Does `attempt` until it gives something: undefined says that another process was quicker.
 * @throws {DependencyError} retriable when others are quicker again and again.
 */
export async function untilDone<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  for (let attempts = 1; attempts <= MOST_ATTEMPTS; attempts += 1) {
    const outcome = await attempt()
    if (outcome !== undefined) return outcome
    // Time for a majority to have what the other one wrote: until then it cannot be read.
    await pause(Math.random() * LONGEST_PAUSE_MS)
  }
  throw new DependencyError('this keeps being changed by others', { retriable: true })
}

/**
 * Puts `change(document)` in the place of a document, with nothing lost that others change at once.
 * Gives the new one; undefined where there is none, or `change` gives none.
 */
export async function changed<D extends Document>(
  documents: Documents<D>,
  id: string,
  change: (document: Found<D>) => Found<D> | undefined,
): Promise<D | undefined> {
  const { next } = await untilDone(async () => {
    const document = await documents.get(id)
    const next = document && change(document)
    return next === undefined || (await documents.replace(next)) ? { next } : undefined
  })
  return next
}
