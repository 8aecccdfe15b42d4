import { isListed } from '../../../schemas/device-list.ts'
import type { ApiKey } from '../../../store/back-office.ts'
import type { GivenReport } from '../../accept/accept.ts'
import type { Said } from './app.ts'
import { judgePoint } from './judge-point.ts'

/** What an app says, as reports: our fields, and a device for those that name none. */
export function givenReports(
  said: readonly Said[],
  { key, now, chunks }: { key: ApiKey; now: number; chunks: readonly Buffer[] },
): GivenReport[] {
  const fallback = fallbackDeviceId(key)
  return said.flatMap((one): GivenReport[] => {
    const deviceId = one.deviceId ?? fallback
    switch (one.kind) {
      case 'point': {
        const translated = judgePoint(one, { deviceId, now })
        return [{ json: one.sent, deviceId, translated }]
      }
      case 'seen':
        // Else a device without a name of its own would wait for ever, and all its points behind it.
        if (one.deviceId === undefined && !isListed(key.deviceIds, fallback)) return []
        return [{ seen: deviceId }]
      case 'malformed': {
        const translated = { faults: [{ field: 'body', message: one.message }] }
        const sent = one.sent === undefined ? { chunks } : {}
        return [{ json: one.sent, ...sent, deviceId: one.deviceId, translated }]
      }
    }
  })
}

/** The only device that the key's list names, else one that is called like the key. */
function fallbackDeviceId({ id, deviceIds = [] }: ApiKey): string {
  const [first, ...others] = deviceIds.filter((listed) => !listed.endsWith('*'))
  return first === undefined || others.length > 0 ? id : first
}
