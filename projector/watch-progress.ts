import type { EventLog } from '../event-log/event-log.ts'
import type { Clock } from '../runtime/clock.ts'
import { DependencyError } from '../runtime/errors.ts'
import type { Offsets } from '../schemas/devices/read-models.ts'
import type { FactStore } from '../store/facts.ts'
import type { ReadModels } from '../store/read-models.ts'

const LONGEST_STAND_MS = 30_000

type Standing = { readonly upTo: number; readonly since: number }

/** Finds out whether projecting or judging is stuck although the log has grown: call `look` every few seconds. */
export function watchProgress({
  eventLog,
  store,
  clock,
}: {
  readonly eventLog: Pick<EventLog, 'extent'>
  readonly store: Pick<ReadModels, 'checkpoint'> & Pick<FactStore, 'factsProgress'>
  readonly clock: Clock
}) {
  let standing: ReadonlyMap<string, Standing> = new Map()

  return {
    async look(): Promise<void> {
      const [projecting, judging] = [await store.checkpoint(), await store.factsProgress()]
      const next = new Map<string, Standing>()
      const steps: readonly (readonly [string, Offsets | undefined])[] = [
        ['projecting', projecting],
        ['judging', judging],
      ]
      for (const { partition, next: end } of await eventLog.extent()) {
        for (const [step, progress] of steps) {
          const upTo = progress?.[partition] ?? -1
          if (progress === undefined || upTo >= end - 1) continue
          const name = `${step} partition ${partition}`
          const before = standing.get(name)
          next.set(name, before?.upTo === upTo ? before : { upTo, since: clock.now() })
        }
      }
      standing = next
    },

    /** @throws {DependencyError} that names what is stuck. */
    async ready(): Promise<void> {
      for (const [name, { since }] of standing) {
        const ms = clock.now() - since
        if (ms < LONGEST_STAND_MS) continue
        const seconds = Math.floor(ms / 1_000)
        throw new DependencyError(`${name} has stood still for ${seconds} s`, {
          retriable: true,
        })
      }
    },
  }
}
