import type { EventLog, LogBatch } from '../../event-log/event-log.ts'
import { keepDeadLetters } from '../../projector/dead-letters.ts'
import { runProjector } from '../../projector/projector.ts'
import { createLogger } from '../../runtime/process/logger.ts'
import { createMetrics } from '../../runtime/process/metrics.ts'
import type { Store } from '../../store/store.ts'
import { away } from './away.ts'

export const logger = createLogger({ level: 'silent', name: 'model' })
export const metrics = createMetrics()

/**
 * Projects at most this many batches of these sizes, starting this many entries before the
 * checkpoint. The rest waits for the next call, as after a crash.
 */
export async function projectSome(
  { log, store }: { readonly log: EventLog; readonly store: Store },
  { sizes, back, most }: { sizes: readonly number[]; back: number; most: number },
): Promise<void> {
  const { next: end = 1 } = (await log.extent())[0] ?? {}
  const generation = await store.openGeneration(await store.currentGeneration())
  const stop = new AbortController()
  let failed: Error | undefined
  let taken = 0
  try {
    const checkpoint = (await generation.checkpoint())[0] ?? 0
    if (Math.max(0, checkpoint - back) >= end - 1) return
    await runProjector({
      eventLog: {
        ...log,
        subscribe: ({ onBatch, resumeAfter, ...subscription }) =>
          log.subscribe({
            ...subscription,
            resumeAfter: async () => ({
              0: Math.max(-1, ((await resumeAfter?.())?.[0] ?? -1) - back),
            }),
            async onBatch(batch) {
              try {
                for (const part of parts(batch, sizes)) {
                  if (taken === most) throw away()
                  taken += 1
                  await onBatch(part)
                }
              } catch (error) {
                failed = error as Error
                stop.abort()
                throw error
              }
              if (batch.lastOffset >= end - 1) stop.abort()
            },
          }),
      },
      store: generation,
      settings: store,
      keepDeadLetters: keepDeadLetters({ deadLetters: log.deadLetters, metrics, logger }),
      metrics,
      signal: stop.signal,
    })
  } finally {
    await generation.close()
  }
  if (failed !== undefined) throw failed
}

function parts({ partition, entries }: LogBatch, sizes: readonly number[]): LogBatch[] {
  const found: LogBatch[] = []
  for (let start = 0, turn = 0; start < entries.length; turn += 1) {
    const some = entries.slice(start, start + (sizes[turn % sizes.length] ?? 1))
    found.push({ partition, lastOffset: some.at(-1)!.origin.offset, entries: some })
    start += some.length
  }
  return found
}
