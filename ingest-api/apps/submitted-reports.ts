import { mapInTurns } from '../../runtime/end-of-turn.ts'
import { fittingAttributes } from '../../schemas/attributes.ts'
import { isListed } from '../../schemas/device-list.ts'
import type { ApiKey } from '../../store/back-office.ts'
import type { SubmittedReport } from '../accept/accept.ts'
import type { AppItem } from './app.ts'
import { judgePoint } from './judge-point.ts'
import { INEXACT_ID, INEXACT_ID_FAULT } from './values.ts'

const LARGE_BYTES = 16 * 1024

/**
 * The items of an app's request as reports, with our fields and a device for items that name none; and
 * how many of their attributes do not fit.
 */
export async function submittedReports(
  items: readonly AppItem[],
  { key, now, chunks }: { key: ApiKey; now: number; chunks: readonly Buffer[] },
): Promise<{ readonly reports: SubmittedReport[]; readonly droppedAttributes: number }> {
  let droppedAttributes = 0
  const fallback = fallbackDeviceId(key)
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  // A rejection shows only the beginning, and serialising the whole body again can take a second.
  const whole = items.length === 1 && length > LARGE_BYTES ? { chunks } : {}
  const reportsOf = (item: AppItem): SubmittedReport[] => {
    const deviceId = item.deviceId ?? fallback
    if (deviceId.includes(INEXACT_ID)) {
      const translated = { faults: [{ field: 'deviceId', message: INEXACT_ID_FAULT }] }
      // Only the bytes have all digits.
      const json = 'sent' in item ? item.sent : undefined
      return [{ json, ...(items.length === 1 && { chunks }), translated }]
    }
    switch (item.kind) {
      case 'point': {
        const translated = judgePoint(item, { deviceId, now })
        if ('report' in translated) droppedAttributes += translated.dropped
        return [{ ...whole, json: item.sent, deviceId, translated }]
      }
      case 'seen': {
        // Otherwise an app without a device name would resend it for ever, with all its points behind it.
        if (item.deviceId === undefined && !isListed(key.deviceIds, fallback)) return []
        const { battery } = item
        const { attributes, dropped } = fittingAttributes(item.attributes ?? {})
        droppedAttributes += dropped
        const telemetry = {
          ...(battery !== undefined && { battery }),
          ...(attributes !== undefined && { attributes }),
        }
        return [{ seen: deviceId, ...telemetry }]
      }
      case 'malformed': {
        const translated = { faults: [{ field: 'body', message: item.message }] }
        const sent = item.sent === undefined ? { chunks } : whole
        return [{ json: item.sent, ...sent, deviceId: item.deviceId, translated }]
      }
    }
  }
  const reports = (await mapInTurns(items, reportsOf)).flat()
  return { reports, droppedAttributes }
}

/** The only device in the key's list, or else a device named after the key. */
function fallbackDeviceId({ id, deviceIds = [] }: ApiKey): string {
  const [first, ...more] = deviceIds.filter((listed) => !listed.endsWith('*'))
  return first === undefined || more.length > 0 ? id : first
}
