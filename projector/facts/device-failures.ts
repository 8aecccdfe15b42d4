import { LRUCache } from 'lru-cache'
import type { Clock } from '../../runtime/clock.ts'
import { reasonOf } from '../../runtime/errors.ts'
import type { Logger } from '../../runtime/process/logger.ts'
import type { Metrics } from '../../runtime/process/metrics.ts'
import { deviceKey } from '../../schemas/events/position-reported.ts'
import type { DueDevice, FailedDevice } from '../../store/facts.ts'

const LOOKED_AT_AGAIN_MS = 60_000
const MOST_REMEMBERED = 10_000

/** The devices that could not be judged lately. */
export type DeviceFailures = {
  /** Counts the failures of a batch. Each fault of a device is logged once, until it has been judged again. */
  note(judged: readonly DueDevice[], failed: readonly FailedDevice[]): void
  /** Whether a sweep passes over it for now. */
  isLeftForLater(device: DueDevice): boolean
  /** The devices that could not be judged when they were last tried. */
  count(): number
}

export function noteFailures({
  clock,
  metrics,
  logger,
}: {
  readonly clock: Clock
  readonly metrics: Pick<Metrics, 'factsFailed'>
  readonly logger: Logger
}): DeviceFailures {
  const failing = new LRUCache<string, { readonly reason: string; readonly at: number }>({
    max: MOST_REMEMBERED,
  })

  return {
    note(judged, failed) {
      if (failing.size + failed.length === 0) return
      const still = new Set(failed.map(deviceKey))
      for (const key of judged.map(deviceKey)) if (!still.has(key)) failing.delete(key)
      for (const { accountId, deviceId, error } of failed) {
        metrics.factsFailed.inc()
        const key = deviceKey({ accountId, deviceId })
        const reason = reasonOf(error)
        const isKnown = failing.get(key)?.reason === reason
        failing.set(key, { reason, at: clock.now() })
        if (isKnown) continue
        const event = 'a device could not be judged: what it sent is stored, but decides nothing'
        logger.error({ accountId, deviceId, err: error }, event)
      }
    },

    isLeftForLater(device) {
      if (failing.size === 0) return false
      const { at = -Infinity } = failing.get(deviceKey(device)) ?? {}
      return Math.abs(clock.now() - at) < LOOKED_AT_AGAIN_MS
    },

    count: () => failing.size,
  }
}
