import { hasReached } from '../../event-log/offsets.ts'
import { endOfTurn, turnTaker } from '../../runtime/end-of-turn.ts'
import type { Device } from '../../schemas/devices/read-models.ts'
import type { AnnouncedErasure } from '../back-office/kinds.ts'
import { readPageAt, rankAmong } from '../device-ranking.ts'
import type { DocumentStore } from '../documents.ts'
import { erasingDevices, type Forgetting } from '../erasing-devices.ts'
import type { Devices, Erasures, ReadModels } from '../read-models.ts'
import type { sqliteLabelCounts } from './device-labels.ts'
import { DEFAULT_SETTINGS, type SettingsOfDevices } from './device-settings.ts'
import { countDevices, isWalkInOrder, walkDevices, type WalkedModels } from './device-walk.ts'
import type { DeviceName } from './device-statuses.ts'
import type { sqliteGenerations } from './generations.ts'
import type { HiddenDevices, DeviceLives } from './hidden-devices.ts'
import type { SqliteReadModels } from './read-models.ts'
import type { RecordReads } from './record-reads.ts'

const FOUND_AT_ONCE = 100
/** Counting this many takes a few milliseconds. */
const COUNTED_AT_ONCE = 20_000

/**
 * Devices and their records as operators see them: joined with their settings, without erased
 * devices.
 */
export function sqliteDevices({
  readModels,
  settings,
  lives,
  countLabels,
  hidden,
  announced,
  forgetting,
  isOnlyGeneration,
}: {
  readModels: Pick<FollowedReadModels, 'current' | 'generation'>
  settings: SettingsOfDevices
  lives: DeviceLives
  countLabels: ReturnType<typeof sqliteLabelCounts>
  hidden: HiddenDevices
  announced: DocumentStore<AnnouncedErasure>
  forgetting: Forgetting
  /** Whether the generation is current and no other is being built. */
  isOnlyGeneration: (generation: number) => boolean
}): Devices & Erasures & Pick<ReadModels, RecordReads | 'countPositions' | 'readNear'> {
  async function findDevices({ accountId, deviceIds }: Parameters<Devices['findDevices']>[0]) {
    const turnEnds = turnTaker()
    const different = [...new Set(deviceIds)]
    const devices: Device[] = []
    for (let at = 0; at < different.length; at += FOUND_AT_ONCE) {
      await turnEnds()
      const models = readModels.current()
      const absent = new Set(hidden.of(accountId, models))
      const some = different.slice(at, at + FOUND_AT_ONCE).filter((one) => !absent.has(one))
      const made = settings.findAll(accountId, some)
      for (const deviceId of some) {
        const status = models.statuses.find({ accountId, deviceId })?.status
        if (status === undefined) continue
        devices.push({ status, settings: made.get(deviceId) ?? DEFAULT_SETTINGS })
      }
    }
    return devices
  }

  function excludeHidden(
    accountId: string,
    deviceIds: readonly string[],
    models: SqliteReadModels,
  ): readonly string[] {
    const absent = hidden.of(accountId, models)
    return absent.length === 0 ? deviceIds : deviceIds.filter((id) => !absent.includes(id))
  }

  function walkModels(accountId: string): WalkedModels {
    return () => {
      const models = readModels.current()
      return { select: models.statuses.select, hidden: hidden.of(accountId, models) }
    }
  }

  async function placeDevices(query: Parameters<Devices['placeDevices']>[0]) {
    const walk = walkDevices(query, walkModels(query.accountId))
    return rankAmong(query, { walk, isInOrder: isWalkInOrder(query) })
  }

  /**
   * SQLite counts record by record, which takes long for many records, so each turn counts a part.
   */
  async function countRange(device: DeviceName, from: number, to: number): Promise<number> {
    let count = 0
    for (let begin = from; begin < to;) {
      await endOfTurn()
      const models = readModels.current()
      if (hidden.isHidden(device, models)) return 0
      const range = { from: begin, to, skipped: COUNTED_AT_ONCE }
      // Records of the same millisecond are counted together.
      const end = Math.max(models.timeAfter(device, range) ?? to, begin + 1)
      count += models.countPositions(device, begin, end)
      begin = end
    }
    return count
  }

  return {
    changeDeviceSettings: settings.changeDeviceSettings,
    changeLabels: settings.changeLabels,
    devicesWithInterval: settings.devicesWithInterval,
    livesOf: lives.livesOf,

    async findDevice(device) {
      const models = readModels.current()
      if (hidden.isHidden(device, models)) return undefined
      const row = models.statuses.find(device)
      return row && { status: row.status, settings: settings.find(device) }
    },

    isDisabled: async (device) =>
      settings.find(device).disabled && !hidden.isHidden(device, readModels.current()),

    findDevices,

    placeDevices,

    pageDevices: (query) =>
      readPageAt(query, {
        place: placeDevices,
        find: (deviceIds) => findDevices({ accountId: query.accountId, deviceIds }),
      }),

    countDevices: (query) => countDevices(query, walkModels(query.accountId)),

    async countLabels(query) {
      return countLabels(query, hidden.of(query.accountId, readModels.current()))
    },

    async findPosition(query) {
      const models = readModels.current()
      const record = await models.findPosition(query)
      return record === undefined || hidden.isHidden(record, models) ? undefined : record
    },

    async findLastPositions({ deviceIds, ...query }) {
      const models = readModels.current()
      const visible = excludeHidden(query.accountId, deviceIds, models)
      return models.findLastPositions({ ...query, deviceIds: visible })
    },

    async readNear({ deviceIds, from, to, ...query }) {
      for (let until = to; ; until = Math.floor((from + until) / 2)) {
        await endOfTurn()
        const models = readModels.current()
        const visible = excludeHidden(query.accountId, deviceIds, models)
        const tracks = models.readNear({ ...query, deviceIds: visible, from, to: until })
        if (tracks !== undefined) return { tracks, until }
      }
    },

    async pagePositions(query) {
      const models = readModels.current()
      return hidden.isHidden(query, models) ? [] : models.pagePositions(query)
    },

    async pageTrack(query) {
      const models = readModels.current()
      return hidden.isHidden(query, models) ? [] : models.pageTrack(query)
    },

    async findTrackPoints(query) {
      const models = readModels.current()
      return hidden.isHidden(query, models) ? [] : models.findTrackPoints(query)
    },

    async countPositions({ bounds, ...device }) {
      const counts: number[] = []
      for (const [n, to] of bounds.slice(1).entries()) {
        counts.push(await countRange(device, bounds[n] ?? to, to))
      }
      return counts
    },

    ...erasingDevices({
      announced,
      async hide(erasure) {
        hidden.hide(erasure)
        const models = readModels.current()
        const generation = readModels.generation()
        hidden.sweepApplied(models, () => isOnlyGeneration(generation))
      },
      isHidden: async (erasure) => hidden.has(erasure),
      beginLife: async (erasure) => lives.begin(erasure),
      forgetSettings: async (erasure) => settings.forget(erasure),
      ...forgetting,
    }),

    async erasuresOf({ accountId, deviceIds }) {
      const { erasures } = readModels.current()
      const found = deviceIds.map((deviceId) => {
        const device = { accountId, deviceId }
        const pending = hidden.times(device, { erasures })
        const applied = erasures.times(device).map(({ erasedAt }) => erasedAt)
        const upTo = erasures.appliedUpTo(device)
        const erasedAt = Math.max(...pending, ...applied)
        return [deviceId, { pending: pending.length > 0, upTo, erasedAt }] as const
      })
      return new Map(
        found.filter(([, { pending, upTo }]) => pending || Object.keys(upTo).length > 0),
      )
    },
  }
}

const LOOK_EVERY_MS = 200
/** After this the older read models are useless: no process projects into them. */
const FOLLOW_WITHIN_MS = 1_000

type FollowedReadModels = {
  /** The current read models; must not be held across event-loop turns. */
  current(): SqliteReadModels
  generation(): number
  close(): void
}

/**
 * The current read models, looked up again from time to time. A newer generation is used once it
 * has caught up with the old one, so that nothing disappears in between.
 */
export function followReadModels(
  generations: ReturnType<typeof sqliteGenerations>,
  settingsFile: string,
): FollowedReadModels {
  let used = generations.openInUse({ settingsFile })
  let lookedAt = performance.now()
  let next: { generation: number; readModels: SqliteReadModels; since: number } | undefined

  function follow(now: number): void {
    const generation = generations.inUse()
    if (generation === used.generation) return
    if (next?.generation !== generation) {
      next?.readModels.close()
      next = { generation, readModels: generations.open(generation, { settingsFile }), since: now }
    }
    const { readModels, since } = next
    const late = now - since > FOLLOW_WITHIN_MS
    if (!late && !hasReached(readModels.checkpoint(), used.readModels.checkpoint())) return
    used.readModels.close()
    used = { generation, readModels }
    next = undefined
  }

  return {
    current() {
      const now = performance.now()
      if (now - lookedAt >= LOOK_EVERY_MS || next !== undefined) {
        follow(now)
        lookedAt = now
      }
      return used.readModels
    },

    generation: () => used.generation,

    close() {
      next?.readModels.close()
      used.readModels.close()
    },
  }
}
