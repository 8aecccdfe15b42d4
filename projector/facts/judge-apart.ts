import type { FactTopic } from '../../event-log/fact-log.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Metrics } from '../../runtime/process/metrics.ts'
import { deviceKey } from '../../schemas/events/position-reported.ts'
import type {
  FactStore,
  FactsBatch,
  FailedDevice,
  JudgeDevice,
  DueDevice,
} from '../../store/facts.ts'
import type { Definitions } from './definitions.ts'
import type { HearingWatch } from './hearing.ts'
import { LRUCache } from 'lru-cache'
import { reasonOf } from '../../runtime/errors.ts'
import type { Logger } from '../../runtime/process/logger.ts'

export type Judging = {
  readonly store: Pick<FactStore, 'factsProgress' | 'lastJudged' | 'judgeFacts' | 'eraseFacts'>
  readonly definitions: Definitions
  readonly hearing: HearingWatch
  readonly clock: Clock
  readonly metrics: Metrics
  readonly failures: DeviceFailures
  /** The topic where facts are published; without it, readers read them from the store. */
  readonly topic?: Pick<FactTopic, 'append' | 'erase'> | undefined
}

/**
 * Judges devices and stores the decisions. A failure for one device does not affect the others.
 * Returns the number of failed devices; their states remain unchanged.
 */
export async function judgeApart(
  {
    store,
    topic,
    failures,
    metrics,
  }: Pick<Judging, 'topic' | 'failures' | 'metrics'> & {
    readonly store: Pick<Judging['store'], 'judgeFacts'>
  },
  { read, devices }: Pick<FactsBatch, 'read' | 'devices'>,
): Promise<number> {
  const thrown = new Map<string, FailedDevice>()
  const { facts, failed } = await store.judgeFacts({
    ...(read !== undefined && { read }),
    devices: devices.map((device) => catchFailures(device, thrown)),
    publish: topic && ((decided) => topic.append(decided)),
  })
  for (const { type } of facts) metrics.facts.inc({ type })
  const all = [...thrown.values(), ...failed]
  failures.note(devices, all)
  return all.length
}

/** The last call counts: the store calls again if a state has changed in the meantime. */
function catchFailures(device: JudgeDevice, thrown: Map<string, FailedDevice>): JudgeDevice {
  const { accountId, deviceId } = device
  return {
    accountId,
    deviceId,
    judge(state) {
      try {
        const judged = device.judge(state)
        if (thrown.size > 0) thrown.delete(deviceKey(device))
        return judged
      } catch (error) {
        thrown.set(deviceKey(device), { accountId, deviceId, error })
        return undefined
      }
    },
  }
}

const LOOKED_AT_AGAIN_MS = 60_000
const MOST_REMEMBERED = 10_000

/** The devices that recently could not be judged. */
export type DeviceFailures = {
  /**
   * Counts the failures of a batch. Each fault of a device is logged once, until the device has
   * been judged again.
   */
  note(judged: readonly DueDevice[], failed: readonly FailedDevice[]): void
  /** Whether a sweep skips it for now. */
  isLeftForLater(device: DueDevice): boolean
  /** The devices that could not be judged in their last attempt. */
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
