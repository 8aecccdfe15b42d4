import type { AnyBulkWriteOperation, Collection, Filter } from 'mongodb'
import { DependencyError } from '../../runtime/errors.ts'
import { MOST_LABELS, applyLabelChange } from '../../schemas/devices/labels.ts'
import { deviceKey } from '../../schemas/events/position-reported.ts'
import { LabelCounts } from '../label-counts.ts'
import { isSameLife } from '../erasing-devices.ts'
import type { Devices, LabelCount, LabelledDevice } from '../read-models.ts'
import { READ, type DeviceSettingsDocument } from './collections.ts'
import { boundIds } from './device-search.ts'
import { sameLife, UNNUMBERED } from './hidden-devices.ts'
import { DEFAULT_SETTINGS } from './device-settings.ts'
import { duplicatesOf } from './driver-errors.ts'

type Settings = Collection<DeviceSettingsDocument>
type Change = Parameters<Devices['changeLabels']>[0]

const MOST_ATTEMPTS = 10
/** Up to this number in an account, the devices that have some labels are listed by id. */
const LISTED = 10_000
const COUNTED_AT_ONCE = 1_000

/**
 * Writes each device's labels only if they are unchanged since they were read. After a conflict
 * everything is read again: a device already written then needs no change, but counts as changed.
 * @throws {DependencyError} retriable when conflicts persist.
 */
export async function changeLabels(settings: Settings, change: Change): Promise<LabelledDevice[]> {
  const written = new Set<string>()
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) {
    const found = await labelsOf(settings, change)
    const results = change.deviceIds.map((deviceId): LabelledDevice => {
      const { labels = [], life } = found.get(deviceId) ?? {}
      if (!isSameLife(change.lives?.get(deviceId), life)) {
        return { deviceId, outcome: 'erased', labels: [] }
      }
      const newLabels = applyLabelChange(labels, change)
      if (newLabels === labels) return { deviceId, outcome: 'unchanged', labels }
      if (newLabels.length > MOST_LABELS) return { deviceId, outcome: 'too many', labels }
      return { deviceId, outcome: 'changed', labels: newLabels }
    })
    const changes = results.filter(({ outcome }) => outcome === 'changed')
    const writes = changes.map(({ deviceId, labels }) =>
      write(change, { deviceId, before: found.get(deviceId)?.labels, labels }),
    )
    if (writes.length === 0 || (await writeAll(settings, writes))) {
      return results.map((one) =>
        one.outcome === 'unchanged' && written.has(one.deviceId)
          ? { ...one, outcome: 'changed' }
          : one,
      )
    }
    for (const { deviceId } of changes) written.add(deviceId)
  }
  throw new DependencyError('other processes keep changing the labels of devices', {
    retriable: true,
  })
}

/** The devices that have all of these labels; undefined if there are very many. */
export async function devicesLabelled(
  settings: Settings,
  { accountId, labels }: { readonly accountId: string; readonly labels: readonly string[] },
): Promise<string[] | undefined> {
  const documents = await settings
    .find({ accountId, labels: { $all: [...labels] } }, READ)
    .limit(LISTED + 1)
    .project<{ deviceId: string }>({ _id: 0, deviceId: 1 })
    .toArray()
  return documents.length > LISTED ? undefined : documents.map(({ deviceId }) => deviceId)
}

/** Counts the devices that have each label, without devices in `hidden`. */
export async function countLabels(
  settings: Settings,
  { accountId, devices, ...page }: Parameters<Devices['countLabels']>[0],
  hidden: readonly string[],
): Promise<LabelCount[]> {
  const bounds = [
    { labels: { $exists: true }, deviceId: { $nin: [...hidden] } },
    ...boundIds(devices),
  ] as Filter<DeviceSettingsDocument>[]
  const counts = new LabelCounts(page)
  const groups = settings
    .aggregate<{ _id: string; devices: number }>(
      [
        { $match: { accountId, $and: bounds } },
        { $unwind: '$labels' },
        { $group: { _id: '$labels', devices: { $sum: 1 } } },
      ],
      READ,
    )
    .batchSize(COUNTED_AT_ONCE)
  for await (const { _id, devices } of groups) counts.add(_id, devices)
  return counts.list()
}

async function labelsOf(
  settings: Settings,
  { accountId, deviceIds }: Change,
): Promise<Map<string, Pick<DeviceSettingsDocument, 'labels' | 'life'>>> {
  const _id = { $in: deviceIds.map((deviceId) => deviceKey({ accountId, deviceId })) }
  const documents = await settings.find({ _id }, READ).toArray()
  return new Map(documents.map((document) => [document.deviceId, document]))
}

function write(
  { accountId, lives, changedAt }: Change,
  {
    deviceId,
    before,
    labels,
  }: { deviceId: string; before: readonly string[] | undefined; labels: readonly string[] },
): AnyBulkWriteOperation<DeviceSettingsDocument> {
  return {
    updateOne: {
      filter: {
        _id: deviceKey({ accountId, deviceId }),
        ...sameLife(lives?.get(deviceId)),
        labels: before ?? { $exists: false },
      },
      update: {
        $set: { labelsChangedAt: new Date(changedAt), ...(labels.length > 0 && { labels }) },
        $unset: { ...UNNUMBERED, ...(labels.length === 0 && { labels: true }) },
        $setOnInsert: { accountId, deviceId, ...DEFAULT_SETTINGS },
        $max: { changedAt: new Date(changedAt) },
      },
      // One of two concurrent first changes is a duplicate.
      upsert: before === undefined,
    },
  }
}

/** Returns whether all writes succeeded. */
async function writeAll(
  settings: Settings,
  writes: AnyBulkWriteOperation<DeviceSettingsDocument>[],
): Promise<boolean> {
  try {
    const { matchedCount, upsertedCount } = await settings.bulkWrite(writes, { ordered: false })
    return matchedCount + upsertedCount === writes.length
  } catch (error) {
    if (duplicatesOf(error) === undefined) throw error
    return false
  }
}
