import { setTimeout as pause } from 'node:timers/promises'
import { DependencyError } from '../../runtime/errors.ts'
import type { Document, DocumentStore, Revisioned } from '../documents.ts'

const MOST_ATTEMPTS = 20
const LONGEST_PAUSE_MS = 50

/**
 * Repeats `attempt` until it returns a value; undefined means that another process was faster.
 * @throws {DependencyError} retriable if other processes are faster every time.
 */
export async function repeatUntilDone<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  for (let attempts = 1; attempts <= MOST_ATTEMPTS; attempts += 1) {
    const outcome = await attempt()
    if (outcome !== undefined) return outcome
    // The other process's write is readable only once a majority has it.
    await pause(Math.random() * LONGEST_PAUSE_MS)
  }
  throw new DependencyError('other processes keep changing this document', { retriable: true })
}

/**
 * Replaces a document with `change(document)`, without losing concurrent changes. Returns the new
 * document; undefined if it does not exist or `change` returns undefined.
 */
export async function changeDocument<D extends Document>(
  documents: DocumentStore<D>,
  id: string,
  change: (document: Revisioned<D>) => Revisioned<D> | undefined,
): Promise<D | undefined> {
  const { next } = await repeatUntilDone(async () => {
    const document = await documents.get(id)
    const next = document && change(document)
    return next === undefined || (await documents.replace(next)) ? { next } : undefined
  })
  return next
}
