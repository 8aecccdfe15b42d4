import { mapInTurns } from '../../runtime/end-of-turn.ts'
import { isListed } from '../../schemas/device-list.ts'
import type { ApiKey } from '../../store/back-office.ts'
import type { SubmittedReport } from '../accept/accept.ts'
import type { Said } from './app.ts'
import { judgePoint } from './judge-point.ts'

const LARGE_BYTES = 16 * 1024

/** The items of an app's request as reports: with our fields, and a device for items that name none. */
export async function submittedReports(
  said: readonly Said[],
  { key, now, chunks }: { key: ApiKey; now: number; chunks: readonly Buffer[] },
): Promise<SubmittedReport[]> {
  const fallback = fallbackDeviceId(key)
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  // A rejection shows only the beginning, and serialising the whole body again can take a second.
  const whole = said.length === 1 && length > LARGE_BYTES ? { chunks } : {}
  const reportsOf = (one: Said): SubmittedReport[] => {
    const deviceId = one.deviceId ?? fallback
    switch (one.kind) {
      case 'point': {
        const translated = judgePoint(one, { deviceId, now })
        return [{ json: one.sent, ...whole, deviceId, translated }]
      }
      case 'seen':
        // Otherwise an app without a device name would resend it for ever, with all its points behind it.
        if (one.deviceId === undefined && !isListed(key.deviceIds, fallback)) return []
        return [{ seen: deviceId }]
      case 'malformed': {
        const translated = { faults: [{ field: 'body', message: one.message }] }
        const sent = one.sent === undefined ? { chunks } : whole
        return [{ json: one.sent, ...sent, deviceId: one.deviceId, translated }]
      }
    }
  }
  return (await mapInTurns(said, reportsOf)).flat()
}

/** The only device in the key's list, or else a device named after the key. */
function fallbackDeviceId({ id, deviceIds = [] }: ApiKey): string {
  const [first, ...others] = deviceIds.filter((listed) => !listed.endsWith('*'))
  return first === undefined || others.length > 0 ? id : first
}
