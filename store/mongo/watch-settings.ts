import type { Collection } from 'mongodb'
import type { ChangesPage, ChangesQuery } from '../definitions.ts'
import { hasSettings, type WatchSettings } from '../facts.ts'
import { READ, type DeviceSettingsDocument } from './collections.ts'
import { runUnderVersions, type Versions } from './versions.ts'

type Settings = Collection<DeviceSettingsDocument>
type Numbering = Pick<DeviceSettingsDocument, '_id' | 'changedAt' | 'numberedAt' | 'version'>

const READ_AT_ONCE = 500
/** How far back to search, by time, for changes made by version 0.3.0. */
const LOOKED_AT_MS = 60_000

/**
 * The settings that judging depends on, in the order of their changes. A change only removes the
 * version, in the same write: a follower of the settings assigns the next one. So a change is never
 * missed, whenever it becomes visible.
 */
export function mongoWatchSettings(
  settings: Settings,
  versions: Versions,
): (query: ChangesQuery) => Promise<ChangesPage<WatchSettings>> {
  return async ({ after, isKnown }) => {
    await numberChanges(settings, versions)
    const page = await settings
      .find({ version: { $gt: after } }, READ)
      .sort({ version: 1 })
      .limit(READ_AT_ONCE)
      .toArray()
    return {
      changes: page.flatMap((document) => {
        const { _id: id, version = 0, changedAt } = document
        if (isKnown(id, version)) return []
        const change = { id, version, changedAt: changedAt?.getTime() ?? 0 }
        const watched = toWatchSettings(document)
        return [hasSettings(watched) ? { ...change, definition: watched } : change]
      }),
      last: page.at(-1)?.version ?? after,
      isEnd: page.length < READ_AT_ONCE,
    }
  }
}

async function numberChanges(settings: Settings, versions: Versions): Promise<void> {
  for (;;) {
    const unnumbered = await pageOf(settings, { version: null })
    await numberAll(settings, versions, unnumbered)
    if (unnumbered.length < READ_AT_ONCE) break
  }
  const [newest] = await settings
    .find({ changedAt: { $gt: new Date(0) } }, READ)
    .sort({ changedAt: -1 })
    .limit(1)
    .toArray()
  if (newest?.changedAt === undefined) return
  const since = new Date(newest.changedAt.getTime() - LOOKED_AT_MS)
  const recent = await pageOf(settings, { changedAt: { $gte: since } })
  const others = recent.filter(
    ({ changedAt, numberedAt }) => +(changedAt ?? 0) !== +(numberedAt ?? 0),
  )
  await numberAll(settings, versions, others, { isEarlier: true })
}

function pageOf(settings: Settings, filter: object): Promise<Numbering[]> {
  return settings
    .find(filter, READ)
    .sort({ changedAt: -1 })
    .limit(READ_AT_ONCE)
    .project<Numbering>({ changedAt: 1, numberedAt: 1, version: 1 })
    .toArray()
}

/** `isEarlier`: by a version that does not record what it has changed. */
async function numberAll(
  settings: Settings,
  versions: Versions,
  all: readonly Numbering[],
  { isEarlier = false } = {},
): Promise<void> {
  if (all.length === 0) return
  const ids = all.map(({ _id }) => _id)
  await runUnderVersions(versions, { collection: settings as never, ids }, (numbers) =>
    settings.bulkWrite(
      all.map(({ _id, changedAt }, n) => ({
        updateOne: {
          // A document changed again in the meantime is numbered the next time.
          filter: { _id, changedAt: changedAt ?? { $exists: false } },
          update: {
            $set: {
              version: numbers[n] ?? 0,
              ...(changedAt && { numberedAt: changedAt }),
              ...(isEarlier && changedAt && { labelsChangedAt: changedAt }),
            },
          },
        },
      })),
      { ordered: false },
    ),
  )
}

function toWatchSettings(document: DeviceSettingsDocument): WatchSettings {
  const { accountId, deviceId, disabled, enabledAt, expectedIntervalSeconds, labels } = document
  const { changedAt, labelsChangedAt = changedAt } = document
  return {
    accountId,
    deviceId,
    disabled,
    ...(enabledAt !== undefined && { enabledSince: enabledAt.getTime() }),
    ...(expectedIntervalSeconds !== undefined && { expectedIntervalSeconds }),
    ...(labels !== undefined && { labels, labelledSince: labelsChangedAt?.getTime() ?? 0 }),
  }
}
