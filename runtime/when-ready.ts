import { setTimeout as pause } from 'node:timers/promises'

const ASKED_EVERY_MS = 200

type Dependency = { ready(): Promise<void> }

/**
 * Resolves once all of them are ready: right after the start a connection may not be there yet.
 * @throws what the last one that is not ready says, after `withinMs` or when `signal` is aborted.
 */
export async function whenReady(
  dependencies: readonly Dependency[],
  { withinMs, signal }: { withinMs: number; signal: AbortSignal },
): Promise<void> {
  const deadline = performance.now() + withinMs
  for (;;) {
    try {
      await Promise.all(dependencies.map((dependency) => dependency.ready()))
      return
    } catch (error) {
      if (signal.aborted || performance.now() >= deadline) throw error
      await pause(ASKED_EVERY_MS)
    }
  }
}
