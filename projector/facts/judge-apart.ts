import type { FactTopic } from '../../event-log/fact-log.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Metrics } from '../../runtime/process/metrics.ts'
import { deviceKey } from '../../schemas/events/position-reported.ts'
import type { FactStore, FactsBatch, FailedDevice, JudgeDevice } from '../../store/facts.ts'
import type { Definitions } from './definitions.ts'
import type { DeviceFailures } from './device-failures.ts'
import type { HearingWatch } from './hearing.ts'

export type Judging = {
  readonly store: Pick<FactStore, 'factsProgress' | 'lastJudged' | 'judgeFacts' | 'eraseFacts'>
  readonly definitions: Definitions
  readonly hearing: HearingWatch
  readonly clock: Clock
  readonly metrics: Metrics
  readonly failures: DeviceFailures
  /** Where facts are published; absent: readers find them in the store. */
  readonly topic?: Pick<FactTopic, 'append' | 'erase'> | undefined
}

/**
 * Judges devices and stores what is decided. What fails for the sake of one device leaves the others alone. Returns
 * the number of those that failed; their states stay as they were.
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
    devices: devices.map((device) => apart(device, thrown)),
    publish: topic && ((decided) => topic.append(decided)),
  })
  for (const { type } of facts) metrics.facts.inc({ type })
  const all = [...thrown.values(), ...failed]
  failures.note(devices, all)
  return all.length
}

/** The last call counts: a store calls again where a state has changed meanwhile. */
function apart(device: JudgeDevice, thrown: Map<string, FailedDevice>): JudgeDevice {
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
