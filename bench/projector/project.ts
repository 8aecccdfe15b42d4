import type { EventLog } from '../../event-log/event-log.ts'
import type { JudgeBatch } from '../../projector/facts/judge-batch.ts'
import { runProjector } from '../../projector/projector.ts'
import { createMetrics } from '../../runtime/process/metrics.ts'
import type { Generation } from '../../store/generations.ts'
import type { Store } from '../../store/store.ts'
import { stopwatch, type Speed } from './speed.ts'

/** Projects a log of this many events into an empty store, as the projector does. */
export async function projectAll({
  eventLog,
  store,
  events,
  generation,
  judging,
  close = async () => undefined,
  measuredAfter = 1,
  onProjected = () => undefined,
}: {
  eventLog: EventLog
  store: Store
  events: number
  /** Names the consumer group: a new one for each run, so that the run begins at the start of the log. */
  generation: number
  /** Absent: no facts are decided. */
  judging?: ((readModels: Generation) => JudgeBatch) | undefined
  /** Measured too, once everything is projected. */
  close?: () => Promise<void>
  /** Events that are not measured, at the beginning. */
  measuredAfter?: number
  /** Called with the number of entries of each batch. */
  onProjected?: (count: number) => void
}): Promise<Speed> {
  const readModels = await store.openGeneration(1)
  const done = new AbortController()
  const watch = stopwatch({ after: measuredAfter })
  const facts = judging?.(readModels)
  let left = events
  const written = (count: number) => {
    watch.count(count)
    onProjected(count)
    left -= count
    if (left <= 0) done.abort()
  }
  try {
    await runProjector({
      eventLog,
      ...(facts !== undefined && {
        facts: {
          ...facts,
          async judge(batch, changes) {
            await facts.judge(batch, changes)
            written(batch.entries.length)
          },
        },
      }),
      generation,
      store: {
        checkpoint: () => readModels.checkpoint(),
        lastApplied: () => readModels.lastApplied(),
        async project(batch) {
          const changes = await readModels.project(batch)
          if (facts === undefined) written(batch.entries.length)
          return changes
        },
      },
      settings: store,
      keepDeadLetters: async (entries) => {
        if (entries.length > 0) throw new Error(`unreadable: ${entries[0]?.reason}`)
      },
      metrics: createMetrics(),
      signal: done.signal,
    })
  } finally {
    await readModels.close()
  }
  await close()
  watch.count(0)
  return watch.read()
}
