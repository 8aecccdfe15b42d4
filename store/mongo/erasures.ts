import { deviceKey } from '../../schemas/events/position-reported.ts'
import type { AnnouncedErasure } from '../back-office/kinds.ts'
import type { DocumentStore } from '../documents.ts'
import { erasingDevices, type Forgetting } from '../erasing-devices.ts'
import type { Erasures } from '../read-models.ts'
import { READ, type Collections, type ReadModelCollections } from './collections.ts'
import { forgetSettings } from './device-settings.ts'
import { storedDevices } from './device-statuses.ts'
import { newestErasure } from './erased.ts'
import { isOnlyGeneration } from './generations.ts'
import { hideDevice, pendingErasures, beginLife, livesOf } from './hidden-devices.ts'

/** The erasures applied in the current read models, and the pending ones. */
export function mongoErasures({
  collections: { deviceSettings, hiddenDevices, meta },
  readModels,
  announced,
  forgetting,
}: {
  collections: Collections
  readModels: () => Promise<ReadModelCollections>
  announced: DocumentStore<AnnouncedErasure>
  forgetting: Forgetting
}): Erasures {
  return {
    livesOf: (query) => livesOf(deviceSettings, query),

    ...erasingDevices({
      announced,
      async hide(erasure) {
        const { deviceStatuses } = await readModels()
        await hideDevice({ hiddenDevices, deviceStatuses }, erasure, () =>
          isOnlyGeneration(meta, deviceStatuses),
        )
      },
      isHidden: async ({ eventId: _id }) => (await hiddenDevices.findOne({ _id }, READ)) !== null,
      beginLife: (erasure) => beginLife(deviceSettings, erasure),
      forgetSettings: (erasure) => forgetSettings(deviceSettings, erasure),
      ...forgetting,
    }),

    async erasuresOf({ accountId, deviceIds }) {
      const { deviceStatuses } = await readModels()
      const pending = await pendingErasures(
        { hiddenDevices, deviceStatuses },
        { accountId, deviceIds },
      )
      const devices = deviceIds.map((deviceId) => ({ accountId, deviceId }))
      const stored = await storedDevices(deviceStatuses, devices)
      return new Map(
        devices.flatMap((device) => {
          const { deviceId } = device
          const erased = stored.get(deviceKey(device))?.erased
          const pendingAt = pending.get(deviceId)?.getTime()
          if (erased === undefined && pendingAt === undefined) return []
          const erasedAt = Math.max(
            erased === undefined ? 0 : newestErasure(erased).getTime(),
            pendingAt ?? 0,
          )
          const upTo = erased?.upTo ?? {}
          return [[deviceId, { pending: pendingAt !== undefined, upTo, erasedAt }]]
        }),
      )
    },
  }
}
