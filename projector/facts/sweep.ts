import type { EventLog } from '../../event-log/event-log.ts'
import { endOfTurn } from '../../runtime/end-of-turn.ts'
import type { DueDevice, FactStore, JudgeDevice } from '../../store/facts.ts'
import { adoptGeofences } from './adopt.ts'
import { judgeApart, type Judging } from './judge-apart.ts'
import { judgeTime, judgeSoon } from './judge.ts'

/** Devices per event-loop turn: reports wait meanwhile. */
const AT_ONCE = 200
/** Together with the second until the next sweep, changes take effect within 5 s. */
const REFRESH_EVERY_MS = 4_000

/**
 * Advances time for devices that send nothing. A time has passed in a partition once everything in
 * the log `graceMs` after it has been judged, and every ingest API has reported since: an append
 * that takes longer is rejected or spooled. Any process may sweep any partition: states are
 * compared before they are written, and all processes derive the same facts. Call it every second.
 */
export function sweepDeadlines(
  judging: Omit<Judging, 'store'> & {
    readonly store: Pick<FactStore, 'factsProgress' | 'judgeFacts' | 'dueDevices'>
    readonly eventLog: Pick<EventLog, 'extent'>
    readonly graceMs: number
  },
): () => Promise<void> {
  const { store, eventLog, graceMs, definitions, hearing, failures, clock, metrics } = judging
  /** The end of each partition when it was last read; entries up to there must be judged. */
  const ends = new Map<number, { readonly readAt: number; readonly last: number }>()
  const passed = new Map<number, number>()
  let refreshedAt = -Infinity

  async function refresh(now: number): Promise<void> {
    if (now - refreshedAt < REFRESH_EVERY_MS && now >= refreshedAt) return
    const changed = await definitions.refresh()
    refreshedAt = now
    for (let at = 0; at < changed.length; at += AT_ONCE) {
      const devices = changed.slice(at, at + AT_ONCE).map((device): JudgeDevice => ({
        ...device,
        judge(state) {
          const next = state && adoptGeofences(judgeSoon(state, now), definitions.of(device), now)
          return next === undefined || next === state ? undefined : { state: next, facts: [] }
        },
      }))
      await judgeApart(judging, { devices })
      await endOfTurn()
    }
  }

  /** Determines the time that has passed in each partition. */
  async function letPass(): Promise<void> {
    const judged = (await store.factsProgress()) ?? {}
    const readAt = clock.now()
    for (const { partition, next } of await eventLog.extent()) {
      const end = ends.get(partition)
      if (end !== undefined && (judged[partition] ?? -1) < end.last) continue
      if (end !== undefined) passed.set(partition, end.readAt - graceMs)
      ends.set(partition, { readAt, last: next - 1 })
    }
  }

  return async function sweep() {
    await hearing.look()
    metrics.silenceHeld.set(hearing.heldSince() === undefined ? 0 : 1)
    if ((await store.factsProgress()) === undefined) return
    await refresh(clock.now())
    await letPass()
    for (const [partition, time] of passed) {
      const now = Math.min(time, hearing.heardUpTo() - graceMs)
      await sweepPartition(partition, now)
    }
  }

  async function sweepPartition(partition: number, now: number): Promise<void> {
    // Devices that fail remain due, and are tried first.
    for (let skip = 0; ;) {
      const due = await store.dueDevices({ now, limit: AT_ONCE, partition, skip })
      if (due.length === 0) return
      const later = due.filter((device) => failures.isLeftForLater(device))
      const devices = due.filter((device) => !later.includes(device))
      skip +=
        later.length +
        (await judgeApart(judging, { devices: devices.map((one) => passTime(one, now)) }))
      if (due.length < AT_ONCE) return
      await endOfTurn()
    }
  }

  function passTime({ accountId, deviceId }: DueDevice, now: number): JudgeDevice {
    const device = { accountId, deviceId }
    const decidedAt = clock.now()
    return {
      ...device,
      judge(state) {
        const by = { definitions: definitions.of(device), hearing: hearing.current() }
        const judged = state && judgeTime(state, now, { ...device, ...by, decidedAt })
        return judged?.state === state ? undefined : judged
      },
    }
  }
}
