import { endOfTurn } from '../../runtime/end-of-turn.ts'
import { readPages } from '../../runtime/process/read-pages.ts'
import type { FactState } from '../../schemas/facts/fact-state.ts'
import type { Box } from '../../schemas/geo/area.ts'
import type { PreparedGeofence } from '../../schemas/geo/geofence-index.ts'
import type { AdoptionStore } from '../../store/definitions.ts'
import type { FactStore, JudgeDevice } from '../../store/facts.ts'
import type { DevicePlace, Devices } from '../../store/read-models.ts'
import type { DeviceDefinitions } from './decider.ts'
import type { ChangedGeofence } from './definitions.ts'
import { judgeApart, type Judging } from './judge-apart.ts'
import { judgeSoon } from './judge.ts'
import { addAdopted, dropOtherGeofences } from './sides.ts'

/** This many take a few milliseconds; reports are processed in between. */
const ADOPTED_AT_ONCE = 50
const PLACES_AT_ONCE = 1_000
const SAVED_EVERY_MS = 1_000
/**
 * The clocks of two processes may differ, and a geofence may be stored some time after its
 * creation.
 */
const OVERLAP_MS = 60_000
/**
 * Up to this many boxes are searched for devices one by one; more are searched as one box around
 * all.
 */
const MOST_BOXES = 4

/** The changed geofences of an account, and the devices in their boxes. */
type Run = {
  readonly accountId: string
  readonly upTo: number
  readonly from: number
  readonly to: number
  readonly deviceIds: readonly string[]
  done: number
  savedAt: number
}

/**
 * Finds the devices inside new and changed geofences, including devices that send nothing. Every
 * process does so when it learns of a change, because until then it may have judged reports without
 * it; an interrupted adoption starts over at the next start. Call it every second.
 */
export function adoptDevices(
  judging: Pick<Judging, 'definitions' | 'clock' | 'topic' | 'failures' | 'metrics'> & {
    readonly store: Pick<FactStore, 'factsProgress' | 'judgeFacts'> &
      Pick<Devices, 'placeDevices'> &
      AdoptionStore
    readonly signal?: AbortSignal
  },
): () => Promise<void> {
  const { store, definitions, clock, signal } = judging
  const runs = new Map<string, Run>()
  const waiting = new Map<string, ChangedGeofence[]>()

  function collect(): void {
    for (const changed of definitions.takeChangedGeofences()) {
      const { accountId } = changed.geofence
      const own = waiting.get(accountId)
      if (own === undefined) waiting.set(accountId, [changed])
      else own.push(changed)
    }
  }

  async function begin(): Promise<void> {
    for (const [accountId, changed] of waiting) {
      if (runs.has(accountId)) continue
      const run = await runOf(accountId, changed)
      if (run !== undefined) runs.set(accountId, run)
      waiting.delete(accountId)
    }
  }

  async function runOf(
    accountId: string,
    changed: readonly ChangedGeofence[],
  ): Promise<Run | undefined> {
    const { upTo = 0 } = (await store.adoption(accountId)) ?? {}
    const geofences = changed.filter(
      ({ wasThere, geofence }) => !wasThere || geofence.inForceSince > upTo - OVERLAP_MS,
    )
    if (geofences.length === 0) return undefined
    let [from, to] = [Infinity, 0]
    for (const { geofence } of geofences) {
      from = Math.min(from, geofence.inForceSince)
      to = Math.max(to, geofence.inForceSince)
    }
    const deviceIds = await findDevicesIn(accountId, boxesOf(geofences))
    return { accountId, upTo, from, to, deviceIds, done: 0, savedAt: -Infinity }
  }

  async function findDevicesIn(
    accountId: string,
    boxes: readonly Box[],
  ): Promise<readonly string[]> {
    const ids = new Set<string>()
    for (const bbox of boxes) {
      const pages = readPages<DevicePlace>(PLACES_AT_ONCE, (page) =>
        store.placeDevices({ accountId, bbox, ...page }),
      )
      for await (const page of pages) for (const { deviceId } of page) ids.add(deviceId)
    }
    return [...ids]
  }

  async function goOn(run: Run): Promise<void> {
    const { accountId, deviceIds } = run
    const now = clock.now()
    const devices = deviceIds
      .slice(run.done, run.done + ADOPTED_AT_ONCE)
      .map((deviceId): JudgeDevice => {
        const device = { accountId, deviceId }
        return {
          ...device,
          judge(state) {
            const next = state && adoptGeofences(state, definitions.of(device), now)
            return next === undefined || next === state ? undefined : { state: next, facts: [] }
          },
        }
      })
    await judgeApart(judging, { devices })
    run.done += devices.length
    if (run.done < deviceIds.length) return save(run, now)
    await store.saveAdoption({ accountId, upTo: run.to })
    runs.delete(accountId)
  }

  /** Saves the progress, which operators see. */
  async function save(run: Run, now: number): Promise<void> {
    if (Math.abs(now - run.savedAt) < SAVED_EVERY_MS) return
    run.savedAt = now
    const { accountId, upTo, from, to, done, deviceIds } = run
    await store.saveAdoption({
      accountId,
      upTo,
      running: { from, to, done, total: deviceIds.length },
    })
  }

  return async function adopt() {
    collect()
    if (waiting.size + runs.size === 0 || (await store.factsProgress()) === undefined) return
    do {
      await begin()
      // Accounts take turns.
      for (const run of [...runs.values()]) {
        await goOn(run)
        await endOfTurn()
      }
      collect()
    } while (waiting.size + runs.size > 0 && signal?.aborted !== true)
  }
}

/**
 * The device's state with the geofences that came into force around its last position. Causes no
 * fact.
 */
export function adoptGeofences(
  state: FactState,
  definitions: DeviceDefinitions,
  now: number,
): FactState {
  if (state.definitions === undefined) return state
  const { geofences: before, rules } = state.definitions
  const kept = dropOtherGeofences(before, definitions.geofences)
  const geofences = addAdopted(kept, definitions.geofences)
  if (geofences === before) return state
  const next = { ...state, definitions: { geofences, rules } }
  // A rule about silence may apply there.
  return definitions.rules.length === 0 ? next : judgeSoon(next, now)
}

function boxesOf(geofences: readonly PreparedGeofence[]): readonly Box[] {
  const few: Box[] = []
  const around = { west: 180, south: 90, east: -180, north: -90 }
  for (const { areas } of geofences) {
    for (const { boxes } of areas) {
      for (const box of boxes) {
        if (few.length <= MOST_BOXES) few.push(box)
        around.west = Math.min(around.west, box.west)
        around.south = Math.min(around.south, box.south)
        around.east = Math.max(around.east, box.east)
        around.north = Math.max(around.north, box.north)
      }
    }
  }
  return few.length <= MOST_BOXES ? few : [around]
}
