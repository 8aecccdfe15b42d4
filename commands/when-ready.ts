import { setTimeout as pause } from 'node:timers/promises'

const WITHIN_MS = 30_000
const ASKED_EVERY_MS = 200

type Dependency = { ready(): Promise<void> }

/**
 * Resolves once all are ready: right after the start a connection may not be established yet.
 * @throws the last error of `ready`, after `withinMs` or when `signal` is aborted.
 */
export async function whenReady(
  dependencies: readonly Dependency[],
  { withinMs = WITHIN_MS, signal }: { withinMs?: number; signal?: AbortSignal } = {},
): Promise<void> {
  const deadline = performance.now() + withinMs
  for (;;) {
    try {
      await Promise.all(dependencies.map((dependency) => dependency.ready()))
      return
    } catch (error) {
      if (signal?.aborted === true || performance.now() >= deadline) throw error
      await pause(ASKED_EVERY_MS)
    }
  }
}
